/** `statelet top`: all actors of a running agent, as they are from second to second. */
import { constants } from 'node:os';
import { systemClock } from '../../../base/clock.ts';
import { ConfigError } from '../../../node/config/configError.ts';
import { parseFilter } from '../../../show/actors/actorFilter.ts';
import { agentNamed } from '../../agent.ts';
import { canDraw } from '../../terminal/liveTable.ts';
import type { Output } from '../../terminal/liveView.ts';
import { askedToEnd, endOnSignals } from '../../terminal/signals.ts';
import type { Input } from '../../terminal/table/keyboard.ts';
import { type AnsweredActors, readActors } from '../get/readActors.ts';
import { keepLooking, type Look } from './view/looks.ts';
import { plainTop } from './view/render.ts';
import { openTopView } from './view/topView.ts';

export interface TopOptions {
  readonly namespace?: string;
  readonly rootDir?: string;
  readonly stateDir?: string;
}

/** Who looks at it. */
export interface TopTerminal {
  readonly output: Output;
  /** The keys of whoever looks at it. */
  readonly input?: Input;
}

/** Where nothing can be drawn over, all is printed this often, in milliseconds. */
const PRINT_EVERY_MS = 5_000;
/** What goes to a file or another program has room for long names. */
const PLAIN_WIDTH = 100;

/** Shows the actors that the words ask for until the user has seen enough; without a terminal, once. */
export async function top(words: readonly string[], options: TopOptions, terminal: TopTerminal): Promise<void> {
  const { output, input } = terminal;
  const { namespace } = options;
  const filter = [...(namespace === undefined ? [] : [`ns:${namespace}`]), ...words].join(' ');
  const read = parseFilter(filter);
  if ('problem' in read) throw new ConfigError(read.problem);
  const agent = await agentNamed(options);
  const ask = async () => readActors(await agent.json('/actors'));
  const first = { actors: await ask() };
  const printer = linePrinter(output, filter);
  if (output.isTTY !== true) return printer.show(first);
  const { promise: quit, resolve: onQuit } = Promise.withResolvers<void>();
  const view = canDraw(output) ? openTopView(output, first, { agent, filter, onQuit, input }) : printer;
  await shownUntilEnd(view, first, { ask, quit });
}

/** What is shown of each look. */
interface Shown {
  show(look: Look): void;
  close(): void;
}

/** Prints the whole tree, now and then. */
function linePrinter(output: Output, filter: string): Shown {
  let printedAt = Number.NEGATIVE_INFINITY;
  return {
    show: (look) => {
      const now = systemClock.monotonic();
      if (now - printedAt < PRINT_EVERY_MS) return;
      printedAt = now;
      const width = output.isTTY ? output.columns || 80 : PLAIN_WIDTH;
      const lines = plainTop({ ...look, filter, now: systemClock.now() }, width);
      output.write(`${lines.join('\n')}\n`);
    },
    close: () => {},
  };
}

interface End {
  readonly ask: () => Promise<AnsweredActors>;
  /** Resolves when the user has seen enough. */
  readonly quit: Promise<void>;
}

async function shownUntilEnd(view: Shown, first: Look, { ask, quit }: End): Promise<void> {
  const signals = endOnSignals(() => view.close());
  const stopLooking = keepLooking(first.actors, { ask, onLook: (look) => view.show(look), clock: systemClock });
  try {
    view.show(first);
    await Promise.race([askedToEnd(signals.asked), quit]);
  } finally {
    stopLooking();
    view.close();
    signals.close();
  }
  // Who presses Ctrl-C has seen enough; another signal is told to whoever waits for the command.
  const reason: unknown = signals.asked.reason;
  if (reason === 'SIGTERM' || reason === 'SIGHUP') process.exitCode = 128 + constants.signals[reason];
}
