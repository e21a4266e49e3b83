/** The projects of this studio, on the Project page. */

import { address, get, postJson } from "./api.js";
import { choice } from "./dialogs.js";
import { byId, fill, h, quoted } from "./dom.js";
import { on } from "./events.js";
import { tell, trying } from "./notice.js";

const list = byId("project-list");
const WHEN = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short" });

async function look() {
  const answer = await trying(() => get("/api/projects"), look);
  if (answer) show(answer);
}

function show({ projects }) {
  fill(
    list,
    projects.map((project) => {
      const here = project.root === address("");
      return h(
        "li",
        { class: here ? "here" : null },
        h(
          "span",
          { class: "grow" },
          here
            ? h("strong", {}, h("bdi", {}, project.name))
            : h("a", { href: `${project.root}/` }, h("bdi", {}, project.name)),
          h("small", {}, here ? "open here" : `last used ${WHEN.format(1000 * project.used_at)}`),
        ),
        !project.first &&
          h(
            "button",
            { type: "button", class: "quiet", "aria-label": `Remove ${project.name}`, onclick: () => remove(project) },
            "Remove",
          ),
      );
    }),
  );
}

async function remove({ name, root }) {
  const words = h(
    "p",
    {},
    "The project ",
    quoted(name),
    " is taken off this list. Its folder with all photos is moved to projects/.removed. Nothing is deleted.",
  );
  if ((await choice("Remove this project?", [words], [["Remove", true, "danger"]])) !== true) return;
  const here = root === address("");
  if (!(await trying(() => postJson("/api/projects/remove", { name })))) return;
  if (here) location.assign("/project#projects");
  else {
    tell(`Removed ${name} from the list.`);
    await look();
    byId("projects").focus();
  }
}

byId("new-project").addEventListener("submit", async (event) => {
  event.preventDefault();
  const name = byId("project-name").value.trim();
  const made = name && (await trying(() => postJson("/api/projects", { name })));
  if (made) location.assign(`${made.root}/`);
});

/** The page grows while it is filled. */
if (location.hash === "#projects") {
  const growing = new ResizeObserver(() => byId("projects").scrollIntoView());
  growing.observe(byId("main"));
  setTimeout(() => growing.disconnect(), 2000);
}

on("anew", look);
look();
