/** Shows the interactive tree of actors on a terminal. */
import { startInterval, systemClock } from '../../../../base/time/clock.ts';
import { actorRows } from '../../../../show/actors/actorRows.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import type { AgentClient } from '../../../../socket/client.ts';
import type { Output } from '../../../terminal/liveView.ts';
import type { Key } from '../../../terminal/table/controls.ts';
import type { Surface } from '../../../terminal/table/render.ts';
import { type ScreenOptions, TerminalScreen } from '../../../terminal/terminalScreen.ts';
import {
  initialControls,
  parseCurrentFilter,
  selectedIndex,
  type TopControls,
  topControlsAfterKey,
} from './controls.ts';
import type { TopDetail } from './detailLines.ts';
import { type ActorDetail, fetchDetail } from './fetchDetail.ts';
import type { ActorsSnapshot } from './pollActors.ts';
import { renderTop, type TopFrame, type TopScene } from './render.ts';
import { createStory } from './story.ts';

/** Time after a key press during which the order of the pods does not change, in milliseconds. */
const STABLE_ORDER_MS = 2_000;
const REDRAW_INTERVAL_MS = 1_000;

interface TopViewOptions extends ScreenOptions {
  readonly agent: AgentClient;
  readonly filter: string;
  readonly onQuit: () => void;
}

/** Opens the tree on a terminal. The caller must close it, e.g. in `onQuit`. */
export function openTopView(output: Output, initialSnapshot: ActorsSnapshot, options: TopViewOptions): TopView {
  const view = new TopView(output, initialSnapshot, options);
  view.open();
  return view;
}

class TopView {
  readonly #options: TopViewOptions;
  readonly #screen: TerminalScreen;
  readonly #story = createStory();
  #snapshot: ActorsSnapshot;
  #controls: TopControls;
  #frame: TopFrame = { lines: [], rows: [], visibleRowCount: 1, from: 0 };
  #pressedAt = Number.NEGATIVE_INFINITY;
  #detail: ActorDetail | undefined;
  #isFetching = false;
  #stopTicking = () => {};

  constructor(output: Output, first: ActorsSnapshot, parts: TopViewOptions) {
    this.#options = parts;
    this.#snapshot = first;
    this.#story.observe(first.actors);
    this.#controls = this.#selectFirstPod(initialControls(parts.filter));
    const picture = {
      frame: (surface: Surface) => this.#draw(surface),
      finalLines: () => [],
      onKey: (key: Key) => this.#handleKey(key),
    };
    this.#screen = new TerminalScreen(output, picture, parts);
  }

  open(): void {
    // Keep redrawing while disconnected, because the screen shows a countdown to the next connection attempt.
    this.#stopTicking = startInterval(systemClock, REDRAW_INTERVAL_MS, () => this.#screen.drawSoon());
    this.#screen.open();
  }

  show(snapshot: ActorsSnapshot): void {
    if (snapshot.lostConnection === undefined) this.#story.observe(snapshot.actors);
    this.#snapshot = snapshot;
    this.#fetchDetail();
    this.#screen.drawSoon();
  }

  close(): void {
    this.#stopTicking();
    this.#screen.close();
  }

  /** Selects the first pod, which in the initial order is the one with the most severe problem. */
  #selectFirstPod(controls: TopControls): TopControls {
    const [, pod] = this.#rows(controls);
    return pod ? { ...controls, selectedPath: pod.path, line: 1 } : controls;
  }

  #handleKey(key: Key): void {
    const previousControls = this.#controls;
    this.#controls = topControlsAfterKey(previousControls, key, this.#frame);
    const { sortOrder, isReversed, isQuitting } = this.#controls;
    // Apply a new order immediately, even if a key was just pressed.
    const hasNewOrder = sortOrder !== previousControls.sortOrder || isReversed !== previousControls.isReversed;
    this.#pressedAt = hasNewOrder ? Number.NEGATIVE_INFINITY : systemClock.monotonic();
    if (isQuitting) this.#options.onQuit();
    this.#fetchDetail();
  }

  #rows(controls: TopControls): ActorRow[] {
    const { sortOrder, isReversed, expandedPaths } = controls;
    const shouldPreserveOrder = systemClock.monotonic() - this.#pressedAt < STABLE_ORDER_MS;
    const retainedOrder = shouldPreserveOrder
      ? this.#frame.rows.flatMap(({ path, depth }) => (depth === 0 ? [path] : []))
      : undefined;
    const { matches } = parseCurrentFilter(controls);
    return actorRows(this.#snapshot.actors, {
      isOpen: (path) => expandedPaths.has(path),
      matches,
      order: sortOrder,
      isReversed,
      retainedOrder,
    });
  }

  #draw(surface: Surface): readonly string[] {
    const rows = this.#rows(this.#controls);
    const { visibleRowCount, from } = this.#frame;
    const index = selectedIndex({ rows, visibleRowCount, from }, this.#controls);
    const scene: TopScene = {
      ...this.#snapshot,
      rows,
      from,
      controls: this.#controls,
      now: systemClock.now(),
      detail: this.#controls.showsDetail ? this.#selectedDetail(rows[index]) : undefined,
    };
    this.#frame = renderTop(scene, surface);
    return this.#frame.lines;
  }

  #selectedDetail(row: ActorRow | undefined): TopDetail | undefined {
    if (row === undefined) return undefined;
    const { at } = this.#snapshot.actors;
    const explanation = this.#detail?.path === row.path ? this.#detail : undefined;
    return { row, explanation, at, entries: this.#story.entriesOf(row.actor), since: this.#story.startedAt() ?? at };
  }

  selectedRow(): ActorRow | undefined {
    return this.#frame.rows[selectedIndex(this.#frame, this.#controls)];
  }

  /** Fetches the detail of the selected actor if the detail is shown. Sends at most one request at a time. */
  #fetchDetail(): void {
    const row = this.selectedRow();
    if (!this.#controls.showsDetail || this.#isFetching || row === undefined || this.#snapshot.lostConnection) return;
    this.#isFetching = true;
    void fetchDetail(this.#options.agent, row).then((detail) => {
      this.#isFetching = false;
      this.#detail = detail;
      this.#screen.drawSoon();
      if (this.selectedRow()?.path !== row.path) this.#fetchDetail();
    });
  }
}
