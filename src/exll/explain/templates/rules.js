(() => {
  const sections = [...document.querySelectorAll('section[data-label]')];
  const search = document.getElementById('search'), found = document.getElementById('found');
  const simple = (text) => text.normalize('NFKC').toLowerCase();
  const filter = () => {
    const query = simple(search.value.trim());
    const hits = sections.filter((section) => simple(section.dataset.label).includes(query));
    for (const section of sections) section.hidden = !hits.includes(section);
    if (hits.length === 1) hits[0].firstElementChild.open = true;
    found.textContent = query ? hits.length + ' of ' + sections.length + ' found' : '';
  };
  search.addEventListener('input', filter);
  filter();
})();
