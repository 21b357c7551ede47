import { every, systemClock } from '../actors/clock.ts';
import type { AgentPort } from '../server/agent.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { INITIAL_CONTROLS, pressed } from './table/controls.ts';
import { guardTerminal, type Input, isForeground, openKeyboard } from './table/keyboard.ts';
import { type Frame, renderFrame, renderLast, type Scene, type Surface } from './table/render.ts';
import { openScreen } from './table/screen.ts';

/** At most ten drawings a second; once a second even without a change, for the times shown. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1000;
/** So many of the last lines are kept for the log's page and for the end. */
const KEPT_LINES = 1000;

/** The lines that stay: told at once while the terminal is not taken, and again where the table has covered them. */
interface Told {
  add(text: string): void;
  readonly lines: () => readonly string[];
}

function told(): Told {
  const lines: string[] = [];
  return {
    add: (text) => {
      lines.push(...text.replace(/\n$/, '').split('\n'));
      lines.splice(0, lines.length - KEPT_LINES);
    },
    lines: () => lines,
  };
}

/** A terminal tells nothing of its size where it has none: 0 columns are as good as unknown. */
function surfaceOf(output: Output): Surface {
  return { width: output.columns || 80, height: output.rows || 24, colour: output.hasColors?.() ?? false };
}

/** The table on the whole terminal, redrawn in place, with keys; what was printed stays on the terminal after it. */
export function terminalView(
  output: Output,
  { input, isInFront = isForeground }: { input?: Input | undefined; isInFront?: () => boolean },
): LiveView {
  const screen = openScreen(output);
  const log = told();
  let controls = INITIAL_CONTROLS;
  let frame: Frame = { lines: [], room: 0, total: 0 };
  let agent: AgentPort | undefined;
  let pending: unknown;
  let state: 'printing' | 'drawing' | 'suspended' | 'closed' = 'printing';

  const scene = (port: AgentPort): Scene => ({
    node: port.node(),
    pods: livePods(port),
    log: log.lines(),
    now: systemClock.now(),
    controls,
  });
  const draw = () => {
    if (state === 'suspended') take();
    if (state !== 'drawing' || agent === undefined) return;
    frame = renderFrame(scene(agent), surfaceOf(output));
    screen.draw(frame.lines);
  };
  const drawSoon = () => {
    pending ??= systemClock.setTimeout(() => {
      pending = undefined;
      draw();
    }, DRAW_EVERY_MS);
  };
  const keyboard = openKeyboard(input, (key) => {
    controls = pressed(controls, key, frame);
    draw();
  });
  const take = () => {
    // In the background it would be stopped for it: it takes the terminal when it is brought back.
    if (state === 'closed' || agent === undefined || !isInFront()) return;
    state = 'drawing';
    keyboard.take();
    screen.take();
    draw();
  };
  /** What was told meanwhile, and the table as it is: they stay. */
  const leave = (next: 'suspended' | 'closed') => {
    if (state === 'drawing' && agent !== undefined) {
      screen.giveBack();
      keyboard.giveBack();
      const last = next === 'closed' ? [...log.lines(), ...renderLast(scene(agent), surfaceOf(output))] : [];
      if (last.length > 0) output.write(`${last.join('\n')}\n`);
    }
    state = next;
  };
  let end = () => {};
  return {
    print: (text) => {
      if (state === 'printing' || state === 'closed') output.write(text.endsWith('\n') ? text : `${text}\n`);
      else log.add(text);
      if (state === 'drawing') drawSoon();
    },
    follow(port) {
      agent = port;
      const unguard = guardTerminal({
        giveBack: () => leave('suspended'),
        take,
        end: () => leave('closed'),
      });
      const unsubscribe = port.subscribe(drawSoon);
      const stopTicking = every(systemClock, TICK_MS, drawSoon);
      const stopAnnouncing = announceReady(port, (line) => {
        log.add(line);
        drawSoon();
      });
      const onResize = () => {
        screen.clear();
        draw();
      };
      output.on?.('resize', onResize);
      state = 'suspended';
      take();
      end = () => {
        output.off?.('resize', onResize);
        stopAnnouncing();
        unsubscribe();
        systemClock.clearTimeout(pending);
        stopTicking();
        leave('closed');
        unguard();
        keyboard.close();
      };
    },
    close() {
      end();
      end = () => {};
      state = 'closed';
    },
  };
}
