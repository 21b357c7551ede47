import { every, systemClock } from '../actors/clock.ts';
import type { AgentPort, PodChange } from '../server/agent.ts';
import { changeSentences } from './table/changes.ts';
import type { LivePod } from './table/liveRows.ts';
import { nodeReadiness, settledReadiness } from './table/ready.ts';
import { renderTable } from './table/render.ts';
import { openScreen, type Screen } from './table/screen.ts';

/** What `up` shows while it runs; `print` adds a line that stays. */
export interface LiveView {
  follow(agent: AgentPort): void;
  print(line: string): void;
  close(): void;
}

/** The terminal's stream, or that of a file or pipe. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly hasColors?: () => boolean;
  write(text: string): unknown;
}

/** At most ten drawings a second; once a second even without a change, for the times shown. */
const DRAW_EVERY_MS = 100;
const TICK_MS = 1000;
const READY_CHECK_MS = 250;

/** Calls `onReady` with the line that says so, once, when all pods run that are expected to and it stays so. */
function announceReady(agent: AgentPort, onReady: (line: string) => void): () => void {
  const isSettled = settledReadiness();
  const check = () => {
    const { state, simulated } = agent.node();
    // Before the node runs it may not know all its pods yet.
    const pods = ['running', 'partial'].includes(state) ? agent.pods() : [];
    const now = systemClock.now();
    const readiness = nodeReadiness(pods, now);
    if (!isSettled(readiness, now)) return;
    stop();
    const label = simulated ? ' (simulated)' : '';
    onReady(`node ready: ${readiness.running}/${readiness.expected} pods running${label}`);
  };
  const unsubscribe = agent.subscribe(check);
  const stopTicking = every(systemClock, READY_CHECK_MS, check);
  const stop = () => {
    unsubscribe();
    stopTicking();
  };
  check();
  return stop;
}

function livePods(agent: AgentPort): LivePod[] {
  const views = new Map(agent.views().map((view) => [view.pod.metadata.uid, view]));
  return agent.pods().flatMap((pod) => {
    const view = views.get(pod.metadata.uid);
    return view ? [{ pod, view }] : [];
  });
}

function drawer(agent: AgentPort, output: Output, screen: Screen): () => void {
  return () => {
    const surface = {
      width: output.columns ?? 80,
      // One row stays free for the cursor: a block as high as the terminal would scroll at each drawing.
      height: (output.rows ?? 24) - 1,
      colour: output.hasColors?.() ?? false,
    };
    screen.draw(renderTable(agent.node(), livePods(agent), systemClock.now(), surface));
  };
}

/** The table, redrawn in place. */
function terminalView(output: Output): LiveView {
  const screen = openScreen(output);
  let end = () => {};
  return {
    print: (line) => screen.above(line),
    follow(agent) {
      const draw = drawer(agent, output, screen);
      let pending: unknown;
      const drawSoon = () => {
        pending ??= systemClock.setTimeout(() => {
          pending = undefined;
          draw();
        }, DRAW_EVERY_MS);
      };
      const unsubscribe = agent.subscribe(drawSoon);
      const stopTicking = every(systemClock, TICK_MS, drawSoon);
      const stopAnnouncing = announceReady(agent, (line) => screen.above(line));
      draw();
      end = () => {
        stopAnnouncing();
        unsubscribe();
        systemClock.clearTimeout(pending);
        stopTicking();
        draw();
      };
    },
    close() {
      end();
      screen.close();
    },
  };
}

/** One line a change. */
function lineView(output: Output): LiveView {
  const print = (line: string) => output.write(`${line}\n`);
  let end = () => {};
  return {
    print,
    follow(agent) {
      const sentences = changeSentences();
      const label = agent.node().simulated ? '[simulated] ' : '';
      const tell = (change: PodChange) => {
        const now = systemClock.now();
        const time = new Date(now).toISOString().slice(11, 19);
        for (const sentence of sentences(change, now)) print(`${time}Z ${label}${sentence}`);
      };
      for (const { pod, view } of livePods(agent)) tell({ uid: pod.metadata.uid, pod, view, removed: false });
      const unsubscribe = agent.subscribe(tell);
      const stopAnnouncing = announceReady(agent, print);
      end = () => {
        stopAnnouncing();
        unsubscribe();
      };
    },
    close: () => end(),
  };
}

/** The live view of a node on an output: a table on a terminal, one line a change otherwise. */
export function openLiveView(output: Output): LiveView {
  return output.isTTY ? terminalView(output) : lineView(output);
}
