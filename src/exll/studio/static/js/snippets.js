/** Programs that use this project, as text. */

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const literal = (text) => JSON.stringify(text); // reads the same in Python and JavaScript

/** @param {{model: string, address: string, locked: boolean, ownCertificate: boolean}} given */
export function snippets({ model, address, locked, ownCertificate }) {
  const header = locked ? ' -H "Authorization: Bearer $EXLL_STUDIO_TOKEN"' : "";
  const curl = `curl${ownCertificate ? " --insecure" : ""}${header}`;
  const accepted = ownCertificate ? "NODE_TLS_REJECT_UNAUTHORIZED=0 " : "";
  const token = locked ? "\n  const headers = { Authorization: `Bearer ${process.env.EXLL_STUDIO_TOKEN}` };" : "";
  const secret = locked ? " The token is taken from the variable EXLL_STUDIO_TOKEN." : "";
  const trust = ownCertificate ? " The studio made its certificate itself, so it is accepted without a check." : "";
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
      words: `Asks this studio while it runs.${secret}${trust}`,
      text: `${curl} -F file=@photo.jpg ${shell(`${address}/api/predict`)}
`,
    },
    {
      id: "javascript",
      title: "JavaScript",
      words: `Asks this studio while it runs. Save it as ask.mjs and run it with Node 18 or newer: ${accepted}node ask.mjs.${secret}${trust}`,
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
