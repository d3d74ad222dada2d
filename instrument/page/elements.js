// Elements of the page.

const $ = (id) => document.getElementById(id);

// An element with attributes, and children that are elements or texts.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class')
      element.className = value;
    else if (name.startsWith('on'))
      element.addEventListener(name.slice(2), value);
    else if (value !== null)
      element.setAttribute(name, value);
  }
  for (const child of children) {
    if (child === null || child === undefined) continue;
    element.append(typeof child === 'string' ? visible(child) : child);
  }
  return element;
}
const bdi = (text) => make('bdi', {}, text);
// A text whose line breaks stay.
const lines = (text) =>
    document.createTextNode(text.split('\n').map(visible).join('\n'));

const KIND_CLASSES = ['dropped', 'made', 'moved', 'changed-kind'];
