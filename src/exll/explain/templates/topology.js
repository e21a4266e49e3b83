(() => {
  const all = (query) => [...document.querySelectorAll(query)];
  const marks = all('.maps [data-k]'), circles = all('circle[data-i]'), buttons = all('li button');
  const ofClass = new Map(), ofPrototype = new Map();
  const put = (map, key, mark) => map.has(key) ? map.get(key).push(mark) : map.set(key, [mark]);
  for (const mark of marks) {
    put(ofClass, mark.dataset.k, mark);
    if (mark.dataset.i) put(ofPrototype, mark.dataset.i, mark);
  }
  const readout = document.getElementById('readout'), found = document.getElementById('found');
  const search = document.getElementById('search'), [words, shown] = readout.children;
  const pictures = new Map(all('#pictures > p').map((own) => [own.dataset.of, own]));
  const named = new Map(circles.map((circle) => [circle.dataset.i, circle.querySelector('title').textContent]));
  const place = new Map(circles.map((c) => [c, [c.cx.baseVal.value, c.cy.baseVal.value]]));
  let picked = new Set(), at = null;

  const toggle = (prototype, on) => {
    for (const mark of ofPrototype.get(prototype.i)) mark.classList.toggle('at', on);
    if (!picked.has(prototype.k)) for (const mark of ofClass.get(prototype.k)) mark.classList.toggle('lit', on);
  };
  // Below the point, or above it where there is no room; always whole.
  const put_at = (x, y) => {
    const {width, height} = readout.getBoundingClientRect(), gap = 18, edge = 8;
    const left = Math.max(edge, Math.min(x - width / 2, document.documentElement.clientWidth - width - edge));
    const top = y + gap + height + edge <= window.innerHeight ? y + gap : Math.max(edge, y - gap - height);
    readout.style.left = left + 'px';
    readout.style.top = top + 'px';
  };
  const show = (mark, point) => {
    if (at) toggle(at, false);
    at = mark ? {i: mark.dataset.i, k: mark.dataset.k} : null;
    if (at) toggle(at, true);
    readout.hidden = !at;
    if (!at) return;
    const own = pictures.get(at.i);
    words.textContent = own ? own.dataset.heading : named.get(at.i);
    shown.replaceChildren(...(own ? own.cloneNode(true).childNodes : []));
    const box = mark.getBoundingClientRect();
    put_at(...(point ?? [box.left + box.width / 2, box.top + box.height / 2]));
  };
  const pick = (classes, query) => {
    show(null);
    picked = classes;
    for (const mark of marks) {
      mark.classList.toggle('dim', query && !classes.has(mark.dataset.k));
      mark.classList.toggle('lit', classes.has(mark.dataset.k));
    }
    for (const border of all('.border')) border.classList.toggle('dim', query);
    for (const button of buttons) button.setAttribute('aria-pressed', String(classes.has(button.dataset.k)));
    found.textContent = query ? classes.size + ' of ' + buttons.length + ' found' : '';
  };
  const simple = (text) => text.normalize('NFKC').toLowerCase();
  search.addEventListener('input', () => {
    const query = simple(search.value.trim());
    const hits = buttons.filter((button) => query && simple(button.dataset.label).includes(query));
    pick(new Set(hits.map((button) => button.dataset.k)), query !== '');
  });
  for (const button of buttons) button.addEventListener('click', () => {
    const again = button.getAttribute('aria-pressed') === 'true' && picked.size === 1;
    search.value = again ? '' : button.dataset.label;
    pick(again ? new Set() : new Set([button.dataset.k]), !again);
  });
  document.addEventListener('pointerover', (event) => {
    const mark = event.target.closest('[data-i]');
    if (mark) show(mark, [event.clientX, event.clientY]);
    else if (!event.target.closest('#readout')) show(document.activeElement.closest('[data-i]'));
  });
  document.addEventListener('focusin', (event) => show(event.target.closest('[data-i]')));

  // One stop of the Tab key for all circles; arrows go to the nearest one that way.
  const stop = (circle) => { for (const c of circles) c.setAttribute('tabindex', c === circle ? '0' : '-1'); };
  stop(circles[0]);
  const ways = {ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1]};
  document.addEventListener('keydown', (event) => {
    const way = ways[event.key], here = place.get(document.activeElement);
    if (!way || !here) return;
    event.preventDefault();
    let nearest = null, least = Infinity;
    for (const [circle, [x, y]] of place) {
      const dx = x - here[0], dy = y - here[1], along = dx * way[0] + dy * way[1];
      const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]), far = along + 2 * aside;
      if (along > 0 && aside <= 2 * along && far < least) { nearest = circle; least = far; }
    }
    if (nearest) { stop(nearest); nearest.focus(); }
  });
})();
