/** The tree of actors on a terminal, with keys. */
import { every, systemClock } from '../../../../base/clock.ts';
import { actorRows } from '../../../../show/actors/actorRows.ts';
import type { ActorRow } from '../../../../show/actors/treeRows.ts';
import type { AgentClient } from '../../../../socket/client.ts';
import type { Output } from '../../../terminal/liveView.ts';
import type { Key } from '../../../terminal/table/controls.ts';
import type { Surface } from '../../../terminal/table/render.ts';
import { type ScreenOptions, TerminalScreen } from '../../../terminal/terminalScreen.ts';
import { filterOf, firstControls, pressedInTop, selectedIndex, type TopControls } from './controls.ts';
import { askDetail, type Detail } from './detail.ts';
import type { Look } from './looks.ts';
import { renderTop, type TopFrame, type TopScene } from './render.ts';
import type { TopDetail } from './renderDetail.ts';
import { createStory } from './story.ts';

/** After a key the pods keep their places for so long. */
const HELD_MS = 2_000;
const TICK_MS = 1_000;

interface TopParts extends ScreenOptions {
  readonly agent: AgentClient;
  readonly filter: string;
  readonly onQuit: () => void;
}

/** Opens the tree on a terminal; it is closed by whoever is told that the user wants it, or for another reason. */
export function openTopView(output: Output, first: Look, parts: TopParts): TopView {
  const view = new TopView(output, first, parts);
  view.open();
  return view;
}

class TopView {
  readonly #parts: TopParts;
  readonly #screen: TerminalScreen;
  readonly #story = createStory();
  #look: Look;
  #controls: TopControls;
  #frame: TopFrame = { lines: [], rows: [], room: 1, from: 0 };
  #pressedAt = Number.NEGATIVE_INFINITY;
  #detail: Detail | undefined;
  #isAsking = false;
  #stopTicking = () => {};

  constructor(output: Output, first: Look, parts: TopParts) {
    this.#parts = parts;
    this.#look = first;
    this.#story.look(first.actors);
    this.#controls = this.#atWorst(firstControls(parts.filter));
    const picture = {
      frame: (surface: Surface) => this.#draw(surface),
      last: () => [],
      onKey: (key: Key) => this.#press(key),
    };
    this.#screen = new TerminalScreen(output, picture, parts);
  }

  open(): void {
    // The countdown of a lost connection goes on without looks.
    this.#stopTicking = every(systemClock, TICK_MS, () => this.#screen.drawSoon());
    this.#screen.open();
  }

  show(look: Look): void {
    if (look.lost === undefined) this.#story.look(look.actors);
    this.#look = look;
    this.#askSoon();
    this.#screen.drawSoon();
  }

  close(): void {
    this.#stopTicking();
    this.#screen.close();
  }

  /** The first pod: the worst, as long as nothing else was chosen. */
  #atWorst(controls: TopControls): TopControls {
    const [, pod] = this.#rows(controls);
    return pod ? { ...controls, selected: pod.path, line: 1 } : controls;
  }

  #press(key: Key): void {
    const before = this.#controls;
    this.#controls = pressedInTop(before, key, this.#frame);
    const { order, reversed, quits } = this.#controls;
    // Who asks for another order has it at once.
    const isOrdered = order !== before.order || reversed !== before.reversed;
    this.#pressedAt = isOrdered ? Number.NEGATIVE_INFINITY : systemClock.monotonic();
    if (quits) this.#parts.onQuit();
    this.#askSoon();
  }

  #rows(controls: TopControls): ActorRow[] {
    const { order, reversed, open } = controls;
    const isHeld = systemClock.monotonic() - this.#pressedAt < HELD_MS;
    const retainedOrder = isHeld
      ? this.#frame.rows.flatMap(({ path, depth }) => (depth === 0 ? [path] : []))
      : undefined;
    const { matches } = filterOf(controls);
    return actorRows(this.#look.actors, { isOpen: (path) => open.has(path), matches, order, reversed, retainedOrder });
  }

  #draw(surface: Surface): readonly string[] {
    const rows = this.#rows(this.#controls);
    const { room, from } = this.#frame;
    const index = selectedIndex({ rows, room, from }, this.#controls);
    const scene: TopScene = {
      ...this.#look,
      rows,
      from,
      controls: this.#controls,
      now: systemClock.now(),
      detail: this.#controls.tells ? this.#told(rows[index]) : undefined,
    };
    this.#frame = renderTop(scene, surface);
    return this.#frame.lines;
  }

  #told(row: ActorRow | undefined): TopDetail | undefined {
    if (row === undefined) return undefined;
    const { at } = this.#look.actors;
    const asked = this.#detail?.path === row.path ? this.#detail : undefined;
    return { row, asked, at, moves: this.#story.of(row.actor), since: this.#story.since() ?? at };
  }

  #selected(): ActorRow | undefined {
    return this.#frame.rows[selectedIndex(this.#frame, this.#controls)];
  }

  /** Asks what is to be told of the selected actor, once at a time. */
  #askSoon(): void {
    const row = this.#selected();
    if (!this.#controls.tells || this.#isAsking || row === undefined || this.#look.lost) return;
    this.#isAsking = true;
    void askDetail(this.#parts.agent, row).then((detail) => {
      this.#isAsking = false;
      this.#detail = detail;
      this.#screen.drawSoon();
      if (this.#selected()?.path !== row.path) this.#askSoon();
    });
  }
}
