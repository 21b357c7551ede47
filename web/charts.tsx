/** The charts of all machines as a page of their own, without a node: what each state means, and the rule behind it. */
import { signal } from '@preact/signals';
import { render } from 'preact';
import type { Drawing } from '../inspect/protocol.ts';
import { Catalogue } from './panels/catalogue.tsx';
import './style.css';

/** The build has put them into the page. */
const drawings = JSON.parse(document.getElementById('drawings')?.textContent ?? '[]') as Drawing[];

/** The drawing that the address names after its `#`. */
const chosen = signal(decodeURIComponent(location.hash.slice(1)));
addEventListener('hashchange', () => {
  chosen.value = decodeURIComponent(location.hash.slice(1));
});

render(<Catalogue drawings={drawings} chosen={chosen} />, document.body);
