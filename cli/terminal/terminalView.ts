import { every, systemClock } from '../../base/clock.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { INITIAL_CONTROLS, type Key, pressed } from './table/controls.ts';
import { type Frame, renderFrame, renderLast, type Scene, type Surface } from './table/render.ts';
import { type ScreenOptions, TerminalScreen } from './terminalScreen.ts';

/** It is drawn once a second even without a change, for the times shown. */
const TICK_MS = 1000;
/** So many of the last lines are kept for the log's page and for the end. */
const KEPT_LINES = 1000;

/** The lines that stay: told at once while the terminal is not taken, and again where the table has covered them. */
interface Scrollback {
  add(text: string): void;
  readonly lines: () => readonly string[];
}

function createScrollback(): Scrollback {
  const lines: string[] = [];
  return {
    add: (text) => {
      lines.push(...text.replace(/\n$/, '').split('\n'));
      lines.splice(0, lines.length - KEPT_LINES);
    },
    lines: () => lines,
  };
}

/** The table on the whole terminal, redrawn in place, with keys; what was printed stays on the terminal after it. */
export const terminalView = (output: Output, options: ScreenOptions): LiveView => new TerminalView(output, options);

class TerminalView implements LiveView {
  readonly #output: Output;
  readonly #screen: TerminalScreen;
  readonly #log = createScrollback();
  #controls = INITIAL_CONTROLS;
  #frame: Frame = { lines: [], room: 0, total: 0 };
  #agent: AgentPort | undefined;
  #page: string | undefined;
  /** The pods, containers and volumes of the last picture. All of them are looked at for the next one. */
  #actors = 0;
  #end = () => {};

  constructor(output: Output, options: ScreenOptions) {
    this.#output = output;
    const picture = {
      frame: (surface: Surface) => this.#draw(surface),
      last: (surface: Surface, next: 'suspended' | 'closed') => this.#last(surface, next),
      onKey: (key: Key) => {
        this.#controls = pressed(this.#controls, key, this.#frame);
      },
    };
    this.#screen = new TerminalScreen(output, picture, options);
  }

  print(text: string): void {
    if (this.#screen.isPlain) this.#output.write(text.endsWith('\n') ? text : `${text}\n`);
    else this.#log.add(text);
    if (this.#screen.isDrawing) this.#screen.drawSoon(this.#actors);
  }

  follow(agent: AgentPort): void {
    this.#agent = agent;
    this.#end = this.#drawWhenChanged(agent);
    this.#screen.open();
  }

  showPage(url: string): void {
    this.#page = url;
    if (this.#screen.isDrawing) this.#screen.drawSoon();
  }

  close(): void {
    this.#end();
    this.#end = () => {};
    this.#screen.close();
  }

  /** Until the function that it gives is called. */
  #drawWhenChanged(agent: AgentPort): () => void {
    const soon = () => this.#screen.drawSoon(this.#actors);
    const unsubscribe = agent.subscribe(soon);
    const stopTicking = every(systemClock, TICK_MS, soon);
    const stopAnnouncing = announceReady(agent, (line) => {
      this.#log.add(line);
      soon();
    });
    return () => {
      stopAnnouncing();
      unsubscribe();
      stopTicking();
    };
  }

  #draw(surface: Surface): readonly string[] {
    const scene = this.#scene();
    if (scene === undefined) return [];
    this.#frame = renderFrame(scene, surface);
    this.#actors = scene.pods.reduce((sum, { tree }) => sum + 1 + tree.children.length, 0);
    return this.#frame.lines;
  }

  /** What was told meanwhile, and the table as it is: they stay. */
  #last(surface: Surface, next: 'suspended' | 'closed'): readonly string[] {
    const scene = this.#scene();
    return scene === undefined || next === 'suspended' ? [] : [...this.#log.lines(), ...renderLast(scene, surface)];
  }

  #scene(): Scene | undefined {
    if (this.#agent === undefined) return undefined;
    const [node, pods, log] = [this.#agent.node(), livePods(this.#agent), this.#log.lines()];
    const page = this.#page === undefined ? {} : { page: this.#page };
    return { node, pods, log, now: systemClock.now(), controls: this.#controls, ...page };
  }
}
