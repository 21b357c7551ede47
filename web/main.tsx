/** Starts the page with the snapshot in its HTML and the location in its URL. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import type { Frame, Snapshot, StoryLine } from '../inspect/protocol.ts';
import { App } from './app.tsx';
import { arriveAt } from './model/actions.ts';
import { askingOver } from './model/asking.ts';
import { followDetail } from './model/detail.ts';
import { follow, type Stream } from './model/following.ts';
import { press } from './model/keys.ts';
import { followLog } from './model/logTab.ts';
import { createPage, type Page } from './model/page.ts';
import { placeOf } from './model/place.ts';
import { areDetailsSeen, createReading, createSpeaker, followObject } from './model/reading.ts';
import { createTree, reveal } from './model/rows.ts';
import { followSelection } from './model/selection.ts';
import { shownTexts } from './model/shownTexts.ts';
import { startStory } from './model/startStory.ts';
import { takeHole, takeLines } from './model/telling.ts';
import { worstPath } from './model/tree.ts';
import type { Panel } from './panels/panel.ts';
import { registerPageKeys } from './parts/pageKeys.tsx';
import './style.css';

/** Returns the snapshot that the server has written into the page. */
function firstSnapshot(): Snapshot {
  // Safe cast: the server of this page wrote the snapshot.
  return shownTexts(JSON.parse(document.getElementById('snapshot')?.textContent ?? '') as Snapshot);
}

function eventStream(): Stream {
  const source = new EventSource('/api/stream');
  const on = <T,>(name: string, listener: (data: T) => void) =>
    // Safe cast: the page and its server have the same version of the protocol.
    source.addEventListener(name, ({ data }: MessageEvent<string>) => listener(shownTexts(JSON.parse(data) as T)));
  return {
    onSnapshot: (listener) => on<Snapshot>('snapshot', listener),
    onFrame: (listener) => on<Frame>('frame', listener),
    onEnd: (listener) => {
      source.onerror = listener;
    },
    close: () => source.close(),
  };
}

/** Ignores an exception of the history API. Browsers throw if the history changes too often. */
function quietly(write: () => void): void {
  try {
    write();
  } catch {
    // The next change updates the URL.
  }
}

const place = () => placeOf(new URL(location.href));
const later = (after: () => void, ms: number) => setTimeout(after, ms);

const page = createPage({
  first: firstSnapshot(),
  place: place(),
  asking: askingOver((resource) => fetch(resource)),
  now: Date.now,
  history: {
    push: (url) => quietly(() => history.pushState(undefined, '', url)),
    replace: (url) => quietly(() => history.replaceState(undefined, '', url)),
  },
});

/** Connects the page to the browser: CSS classes, title, keys, and the back and forward buttons. */
function bindBrowser({ page, tree }: Panel): void {
  effect(() => {
    document.documentElement.classList.toggle('past', page.past.value !== undefined);
  });
  effect(() => {
    const path = page.selected.value;
    if (path === undefined) return;
    reveal(tree, page.world.peek(), path);
    tree.cursor.value = path;
    document.title = `${page.lastSeen.peek()?.actor.name ?? ''} · ${page.live.peek().node.name} · statelet`;
  });
  addEventListener('popstate', () => arriveAt(page, place()));
  addEventListener('keydown', (event) => onKey(page, event));
}

const PRESSED = 'button, summary, [role=button], a[href]';

function onKey(page: Page, event: KeyboardEvent): void {
  const { key, shiftKey, target } = event;
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
  const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select');
  // The browser itself activates a button with these keys.
  if (target instanceof Element && target.matches(PRESSED) && (key === 'Enter' || key === ' ')) return;
  const isCommand = event.ctrlKey || event.altKey || event.metaKey;
  if (press(page, { key, shiftKey, isCommand, isTyping })) event.preventDefault();
}

const tree = createTree(page);
const { say, said } = createSpeaker({ now: Date.now, setTimeout: later });
const story = startStory(page, { later });
const panel: Panel = { page, tree, reading: createReading(), say, said, story };
followSelection(page, worstPath);
followDetail(page, { setTimeout: later, isSeen: () => areDetailsSeen(panel.reading, page) });
followObject(page, panel.reading, { setTimeout: later });
followLog(page, panel.reading.logTab, {
  setTimeout: later,
  isSeen: () => panel.reading.whyTab.value === 'log' && !page.place.value.isPodPage,
});
registerPageKeys(panel);
bindBrowser(panel);
arriveAt(page, page.place.peek());
setInterval(() => {
  page.wall.value = Date.now();
}, 1_000);
const onLines = (lines: readonly StoryLine[], unsaid: number) => takeLines(story.telling, lines, unsaid);
const onSnapshot = () => takeHole(story.telling);
if (page.mode === 'live') follow(page, { open: eventStream, setTimeout: later, now: Date.now, onSnapshot, onLines });
render(<App {...panel} />, document.body);
