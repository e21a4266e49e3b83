/** Programs that use this project, as text. */

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const literal = (text) => JSON.stringify(text); // reads the same in Python and JavaScript

/** @param {{model: string, address: string, locked: boolean, label: string}} given */
export function snippets({ model, address, locked, label }) {
  const header = locked ? ' -H "Authorization: Bearer $EXLL_STUDIO_TOKEN"' : "";
  const certificate = address.startsWith("https:") ? " --insecure" : ""; // the studio makes its own
  const curl = `curl${certificate}${header}`;
  const token = locked ? "\n  const headers = { Authorization: `Bearer ${process.env.EXLL_STUDIO_TOKEN}` };" : "";
  const secret = locked ? " The token is taken from the variable EXLL_STUDIO_TOKEN." : "";
  return [
    {
      id: "python",
      title: "Python",
      words: "With the model file in the same folder. It needs no studio and no network connection.",
      text: `import exll

model = exll.load(${literal(model)})
answer = model.predict("photo.jpg")
print(answer.label, f"{answer.probability:.1%}", answer.level)
`,
    },
    {
      id: "curl",
      title: "curl",
      words: `Asks this studio while it runs, then teaches it the same photo.${secret}`,
      text: `${curl} -F file=@photo.jpg ${shell(`${address}/api/predict`)}
${curl} --form-string label=${shell(label)} -F files=@photo.jpg ${shell(`${address}/api/teach`)}
`,
    },
    {
      id: "javascript",
      title: "JavaScript",
      words: `Asks this studio while it runs. Save it as ask.mjs and run it with Node 18 or newer: node ask.mjs${secret && `.${secret}`}`,
      text: `import { readFile } from "node:fs/promises";

async function ask(photo) {
  const body = new FormData();
  body.append("file", photo, "photo.jpg");${token}
  const response = await fetch(${literal(`${address}/api/predict`)}, { method: "POST", body${locked ? ", headers" : ""} });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer.prediction;
}

const { label, probability, level } = await ask(new Blob([await readFile("photo.jpg")]));
console.log(label, probability, level);
`,
    },
  ];
}
