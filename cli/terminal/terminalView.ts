import { startInterval, systemClock } from '../../base/time/clock.ts';
import type { AgentPort } from '../../socket/agent.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { controlsAfterKey, INITIAL_CONTROLS, type Key } from './table/controls.ts';
import { type Frame, renderFinal, renderFrame, type Scene, type Surface } from './table/render.ts';
import { type ScreenOptions, TerminalScreen } from './terminalScreen.ts';

/**
 * Interval of the periodic redraws in milliseconds. The screen is redrawn periodically because it shows elapsed times.
 */
const REDRAW_INTERVAL_MS = 1000;
/** Number of lines retained for the log page and for the output after closing. */
const MAX_LOG_LINES = 1000;

/** Lines that are printed again after the table that covered them has closed. */
interface Scrollback {
  add(text: string): void;
  readonly lines: () => readonly string[];
}

function createScrollback(): Scrollback {
  const logLines: string[] = [];
  return {
    add: (text) => {
      logLines.push(...text.replace(/\n$/, '').split('\n'));
      logLines.splice(0, logLines.length - MAX_LOG_LINES);
    },
    lines: () => logLines,
  };
}

/** Creates the full-screen table. Lines that are printed while it is open remain on the terminal after it closes. */
export const terminalView = (output: Output, options: ScreenOptions): LiveView => new TerminalView(output, options);

class TerminalView implements LiveView {
  readonly #output: Output;
  readonly #screen: TerminalScreen;
  readonly #log = createScrollback();
  #controls = INITIAL_CONTROLS;
  #frame: Frame = { lines: [], visibleLines: 0, totalLines: 0 };
  #agent: AgentPort | undefined;
  #page: string | undefined;
  /** The number of pods, containers and volumes in the last frame, which determines the cost of the next one. */
  #actorCount = 0;
  #stopRedrawing = () => {};

  constructor(output: Output, options: ScreenOptions) {
    this.#output = output;
    const picture = {
      frame: (surface: Surface) => this.#draw(surface),
      finalLines: (surface: Surface, next: 'suspended' | 'closed') => this.#finalLines(surface, next),
      onKey: (key: Key) => {
        this.#controls = controlsAfterKey(this.#controls, key, this.#frame);
      },
    };
    this.#screen = new TerminalScreen(output, picture, options);
  }

  print(text: string): void {
    if (this.#screen.isUntouched) this.#output.write(text.endsWith('\n') ? text : `${text}\n`);
    else this.#log.add(text);
    if (this.#screen.isDrawing) this.#screen.drawSoon(this.#actorCount);
  }

  follow(agent: AgentPort): void {
    this.#agent = agent;
    this.#stopRedrawing = this.#redrawOnChanges(agent);
    this.#screen.open();
  }

  showPage(url: string): void {
    this.#page = url;
    if (this.#screen.isDrawing) this.#screen.drawSoon();
  }

  close(): void {
    this.#stopRedrawing();
    this.#stopRedrawing = () => {};
    this.#screen.close();
  }

  /** Redraws on changes until the returned function is called. */
  #redrawOnChanges(agent: AgentPort): () => void {
    const redraw = () => this.#screen.drawSoon(this.#actorCount);
    const unsubscribe = agent.subscribe(redraw);
    const stopTicking = startInterval(systemClock, REDRAW_INTERVAL_MS, redraw);
    const stopAnnouncing = announceReady(agent, (line) => {
      this.#log.add(line);
      redraw();
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
    this.#actorCount = scene.pods.reduce((sum, { tree }) => sum + 1 + tree.children.length, 0);
    return this.#frame.lines;
  }

  /** Returns the printed lines and the final table, or nothing if the view is only suspended. */
  #finalLines(surface: Surface, next: 'suspended' | 'closed'): readonly string[] {
    const scene = this.#scene();
    return scene === undefined || next === 'suspended' ? [] : [...this.#log.lines(), ...renderFinal(scene, surface)];
  }

  #scene(): Scene | undefined {
    if (this.#agent === undefined) return undefined;
    const [node, pods, log] = [this.#agent.node(), livePods(this.#agent), this.#log.lines()];
    const page = this.#page === undefined ? {} : { page: this.#page };
    return { node, pods, log, now: systemClock.now(), controls: this.#controls, ...page };
  }
}
