(() => {
  const sections = [...document.querySelectorAll('section[data-label]')];
  const links = new Map([...document.querySelectorAll('nav a')].map((link) => [link.hash.slice(1), link.parentNode]));
  const search = document.getElementById('search'), found = document.getElementById('found');
  const simple = (text) => text.normalize('NFKC').toLowerCase();
  const filter = () => {
    const asked = simple(search.value.trim());
    let count = 0;
    for (const section of sections) {
      const hit = simple(section.dataset.label).includes(asked);
      section.hidden = !hit;
      links.get(section.id).hidden = !hit;
      count += hit;
    }
    found.textContent = asked ? count + ' of ' + sections.length + ' found' : '';
  };
  search.addEventListener('input', filter);
  filter();
})();
