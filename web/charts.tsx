/** A static page with the charts of all machines and the description of each state. */
import { signal } from '@preact/signals';
import { render } from 'preact';
import type { Drawing } from '../inspect/protocol.ts';
import { Catalogue } from './panels/chart/catalogue.tsx';
import './style.css';

/** Safe cast: the build writes the drawings into the page. */
const drawings = JSON.parse(document.getElementById('drawings')?.textContent ?? '[]') as Drawing[];

/** Key of the drawing, from the fragment of the URL. */
const selectedKey = signal(decodeURIComponent(location.hash.slice(1)));
addEventListener('hashchange', () => {
  selectedKey.value = decodeURIComponent(location.hash.slice(1));
});

render(<Catalogue drawings={drawings} selectedKey={selectedKey} />, document.body);
