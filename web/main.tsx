/** Starts the page with the snapshot in its HTML and the location in its URL. */
import { effect } from '@preact/signals';
import { render } from 'preact';
import type { Frame, Snapshot, StoryLine } from '../inspect/protocol.ts';
import { App } from './app.tsx';
import { createTree, expandAncestors } from './model/actors/rows.ts';
import { worstPath } from './model/actors/tree.ts';
import { followDetail } from './model/details/detail.ts';
import { escapeTexts } from './model/log/escapeTexts.ts';
import { followLog } from './model/log/logTab.ts';
import { applyLocation } from './model/navigation/actions.ts';
import { handleKey } from './model/navigation/keys.ts';
import { parseLocation } from './model/navigation/pageLocation.ts';
import { followSelection } from './model/navigation/selection.ts';
import { createPage, type Page } from './model/page.ts';
import { areDetailsVisible, createAnnouncer, createReadingState, followObject } from './model/server/reading.ts';
import { createClient } from './model/server/serverClient.ts';
import { type EventStream, subscribe } from './model/server/subscription.ts';
import { startStory } from './model/story/startStory.ts';
import { appendLiveLines, recordGap } from './model/story/storyState.ts';
import type { Panel } from './panels/panel.ts';
import { registerPageKeys } from './parts/pageKeys.tsx';
import './style.css';

/** Returns the snapshot that the server has written into the page. */
function firstSnapshot(): Snapshot {
  // Safe cast: the server of this page wrote the snapshot.
  return escapeTexts(JSON.parse(document.getElementById('snapshot')?.textContent ?? '') as Snapshot);
}

function eventStream(): EventStream {
  const source = new EventSource('/api/stream');
  const on = <T,>(name: string, listener: (data: T) => void) =>
    // Safe cast: the page and its server have the same version of the protocol.
    source.addEventListener(name, ({ data }: MessageEvent<string>) => listener(escapeTexts(JSON.parse(data) as T)));
  return {
    onSnapshot: (listener) => on<Snapshot>('snapshot', listener),
    onFrame: (listener) => on<Frame>('frame', listener),
    onEnd: (listener) => {
      source.onerror = listener;
    },
    close: () => source.close(),
  };
}

/** Runs `write` and ignores the exception that browsers throw if the history changes too often. */
function ignoreErrors(write: () => void): void {
  try {
    write();
  } catch {
    // Ignore the error, because the next change updates the URL.
  }
}

const readLocation = () => parseLocation(new URL(location.href));
const scheduleTimeout = (after: () => void, ms: number) => setTimeout(after, ms);

const page = createPage({
  initialSnapshot: firstSnapshot(),
  location: readLocation(),
  client: createClient((resource) => fetch(resource)),
  now: Date.now,
  history: {
    push: (url) => ignoreErrors(() => history.pushState(undefined, '', url)),
    replace: (url) => ignoreErrors(() => history.replaceState(undefined, '', url)),
  },
});

/** Connects the page to the browser: CSS classes, title, keys, and the back and forward buttons. */
function bindBrowser({ page, tree }: Panel): void {
  effect(() => {
    document.documentElement.classList.toggle('past', page.past.value !== undefined);
  });
  effect(() => {
    const path = page.selectedPath.value;
    if (path === undefined) return;
    expandAncestors(tree, page.world.peek(), path);
    tree.cursor.value = path;
    document.title = `${page.lastKnown.peek()?.actor.name ?? ''} · ${page.live.peek().node.name} · statelet`;
  });
  addEventListener('popstate', () => applyLocation(page, readLocation()));
  addEventListener('keydown', (event) => onKey(page, event));
}

const PRESSED = 'button, summary, [role=button], a[href]';

function onKey(page: Page, event: KeyboardEvent): void {
  const { key, shiftKey, target } = event;
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
  const isTyping = target instanceof HTMLElement && target.matches('input, textarea, select');
  // Do not handle Enter and Space on a button or a link, because the browser activates the element with these keys.
  if (target instanceof Element && target.matches(PRESSED) && (key === 'Enter' || key === ' ')) return;
  const hasModifier = event.ctrlKey || event.altKey || event.metaKey;
  if (handleKey(page, { key, shiftKey, hasModifier, isTyping })) event.preventDefault();
}

const tree = createTree(page);
const { announce, announcement } = createAnnouncer({ now: Date.now, setTimeout: scheduleTimeout });
const story = startStory(page, { scheduleTimeout });
const panel: Panel = { page, tree, reading: createReadingState(), announce, announcement, story };
followSelection(page, worstPath);
followDetail(page, { setTimeout: scheduleTimeout, areDetailsVisible: () => areDetailsVisible(panel.reading, page) });
followObject(page, panel.reading, { setTimeout: scheduleTimeout });
followLog(page, panel.reading.logTab, {
  setTimeout: scheduleTimeout,
  isVisible: () => panel.reading.whyTab.value === 'log' && !page.location.value.isPodPage,
});
registerPageKeys(panel);
bindBrowser(panel);
applyLocation(page, page.location.peek());
setInterval(() => {
  page.browserTime.value = Date.now();
}, 1_000);
const onLines = (lines: readonly StoryLine[], unsaid: number) => appendLiveLines(story.storyState, lines, unsaid);
const onSnapshot = () => recordGap(story.storyState);
if (page.mode === 'live')
  subscribe(page, { open: eventStream, setTimeout: scheduleTimeout, now: Date.now, onSnapshot, onLines });
render(<App {...panel} />, document.body);
