/** `statelet top`: shows all actors of a running agent in a live view. */
import { constants } from 'node:os';
import { systemClock } from '../../../base/time/clock.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { parseFilter } from '../../../show/actors/actorFilter.ts';
import { connectAgent } from '../../connectAgent.ts';
import { canDraw } from '../../terminal/liveTable.ts';
import type { Output } from '../../terminal/liveView.ts';
import { handleStopSignals, untilStopRequested } from '../../terminal/signals.ts';
import type { Input } from '../../terminal/table/keyboard.ts';
import { type ActorsResponse, readActors } from '../get/readActors.ts';
import { type ActorsSnapshot, pollActors } from './view/pollActors.ts';
import { renderPlainTop } from './view/render.ts';
import { openTopView } from './view/topView.ts';

export interface TopOptions {
  readonly namespace?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

export interface TopTerminal {
  readonly output: Output;
  readonly input?: Input;
}

/** Interval at which the whole tree is printed on a dumb terminal, in milliseconds. */
const PRINT_INTERVAL_MS = 5_000;
/** Width of the output to a file or pipe, in columns. */
const PLAIN_WIDTH = 100;

/**
 * Shows the actors that match the filter, and updates them until the user quits. Without a terminal, prints them once.
 */
export async function top(words: readonly string[], options: TopOptions, terminal: TopTerminal): Promise<void> {
  const { output, input } = terminal;
  const { namespace } = options;
  const filter = [...(namespace === undefined ? [] : [`ns:${namespace}`]), ...words].join(' ');
  const filterResult = parseFilter(filter);
  if ('problem' in filterResult) throw new ConfigError(filterResult.problem);
  const agent = await connectAgent(options);
  const fetchActors = async () => readActors(await agent.json('/actors'));
  const initialSnapshot = { actors: await fetchActors() };
  const printer = linePrinter(output, filter);
  if (output.isTTY !== true) return printer.show(initialSnapshot);
  const { promise: quitPromise, resolve: onQuit } = Promise.withResolvers<void>();
  const view = canDraw(output) ? openTopView(output, initialSnapshot, { agent, filter, onQuit, input }) : printer;
  await showUntilQuit(view, initialSnapshot, { fetchActors, quitPromise });
}

interface ActorsView {
  show(look: ActorsSnapshot): void;
  close(): void;
}

/** Creates a view that prints the whole tree at intervals. */
function linePrinter(output: Output, filter: string): ActorsView {
  let printedAt = Number.NEGATIVE_INFINITY;
  return {
    show: (snapshot) => {
      const now = systemClock.monotonic();
      if (now - printedAt < PRINT_INTERVAL_MS) return;
      printedAt = now;
      const width = output.isTTY ? output.columns || 80 : PLAIN_WIDTH;
      const plainLines = renderPlainTop({ ...snapshot, filter, now: systemClock.now() }, width);
      output.write(`${plainLines.join('\n')}\n`);
    },
    close: () => {},
  };
}

interface RefreshOptions {
  readonly fetchActors: () => Promise<ActorsResponse>;
  readonly quitPromise: Promise<void>;
}

async function showUntilQuit(
  view: ActorsView,
  initialSnapshot: ActorsSnapshot,
  { fetchActors, quitPromise }: RefreshOptions,
): Promise<void> {
  const signals = handleStopSignals(() => view.close());
  const stopPolling = pollActors(initialSnapshot.actors, {
    fetchActors,
    onSnapshot: (snapshot) => view.show(snapshot),
    clock: systemClock,
  });
  try {
    view.show(initialSnapshot);
    await Promise.race([untilStopRequested(signals.stopSignal), quitPromise]);
  } finally {
    stopPolling();
    view.close();
    signals.close();
  }
  // Ctrl-C is a normal way to quit. After SIGTERM or SIGHUP, exit with the code that a shell would report for the
  // signal.
  const reason: unknown = signals.stopSignal.reason;
  if (reason === 'SIGTERM' || reason === 'SIGHUP') process.exitCode = 128 + constants.signals[reason];
}
