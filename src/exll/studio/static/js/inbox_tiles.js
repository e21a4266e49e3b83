/** Photos with a tick each, in a list that others may add to and remove from. */

import { address } from "./api.js";
import { h } from "./dom.js";
import { trying } from "./notice.js";
import { openViewer } from "./viewer.js";

/** @typedef {{id: number, name: string, image: string, thumbnail: string}} Photo */

/** With the tool to teach a region, for a photo that shows several things. @param {Photo} photo */
async function openLarge(photo) {
  const response = await trying(() => fetch(address(photo.image)));
  if (response?.ok) await openViewer({ file: new File([await response.blob()], photo.name) });
}

export class Tiles {
  /** @param {boolean} ticked At first. @param {() => void} changed */
  constructor(ticked, changed) {
    Object.assign(this, { ticked, changed, tiles: new Map() });
    this.element = h("ul", { class: "tiles" });
  }

  get size() {
    return this.tiles.size;
  }

  has(id) {
    return this.tiles.has(id);
  }

  /** The numbers of those with a tick. */
  get chosen() {
    return [...this.tiles].filter(([, { box }]) => box.checked).map(([id]) => id);
  }

  /** Remove what is not among these, add what is new. @param {Photo[]} photos @param {(photo: any) => any} caption */
  show(photos, caption = () => null) {
    const wanted = new Set(photos.map(({ id }) => id));
    for (const [id, { element }] of this.tiles) {
      if (wanted.has(id)) continue;
      element.remove();
      this.tiles.delete(id);
    }
    for (const photo of photos) {
      if (!this.tiles.has(photo.id)) this.add(photo);
      this.tiles.get(photo.id).caption.replaceChildren(...[caption(photo)].flat().filter(Boolean));
    }
    this.changed();
  }

  add(photo) {
    const box = h("input", { type: "checkbox", "aria-label": `Select photo ${photo.id}`, onchange: this.changed });
    box.checked = this.ticked;
    const words = h("p", { class: "caption" });
    const element = h(
      "li",
      {},
      h(
        "button",
        { type: "button", class: "open", "aria-label": `Show photo ${photo.id} large`, onclick: () => openLarge(photo) },
        h("img", { src: address(photo.thumbnail), alt: `Photo ${photo.id}`, loading: "lazy", width: 112, height: 112 }),
      ),
      h("label", { class: "tick" }, box),
      words,
    );
    this.tiles.set(photo.id, { element, box, caption: words });
    this.element.append(element);
  }
}
