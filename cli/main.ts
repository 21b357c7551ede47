import { once } from 'node:events';
import { CommanderError } from 'commander';
import { printable } from '../base/printable.ts';
import type { StartNode } from '../node/start/startNode.ts';
import type { UpParts } from './commands/run/up.ts';
import { errorText } from './output/errorText.ts';
import { whyUnwritten, writeWhole } from './output/standardOutput.ts';
import { createProgram } from './program.ts';
import type { CommandTerminal } from './terminal/commandTerminal.ts';
import { exitNow } from './terminal/exitNow.ts';

/** Prints what was asked for. */
function write(text: string): void {
  try {
    writeWhole(process.stdout, printable(text));
  } catch (error) {
    onUnwritten(error);
  }
}

/** Passes on what a container has written, at the pace of whoever reads it. */
async function passOn(data: string | Uint8Array): Promise<void> {
  try {
    if (!writeWhole(process.stdout, data)) await once(process.stdout, 'drain');
  } catch (error) {
    onUnwritten(error);
  }
}

/** A command that only shows something ends when it cannot be printed: there is nothing left to do. */
let onUnwritten = (error: unknown): void => {
  tellUnwritten(error);
  process.exit();
};
process.stdout.on('error', (error) => onUnwritten(error));

/** Says why something cannot be printed, and has the process end with 1; a reader that has enough is no mistake. */
function tellUnwritten(error: unknown): void {
  const why = whyUnwritten(error);
  if (why === undefined) return;
  process.stderr.write(`statelet: ${why}\n`);
  process.exitCode = 1;
}

/** A command that acts goes on to its end, whoever reads along. */
function actUnread(): void {
  let isTold = false;
  onUnwritten = (error) => {
    if (!isTold) tellUnwritten(error);
    isTold = true;
  };
}

// There is nobody left to tell.
process.stderr.on('error', () => {});

/** Files that outlive the command have the same modes whoever starts it, and however. */
const ownUmask = () => void process.umask(0o022);

// Only loaded when the configuration has no mistakes: it brings gRPC and the actors along.
const startNode: StartNode = async (options) => (await import('../node/start/startNode.ts')).startNode(options);

const startRuntime: UpParts['startRuntime'] = async (directory, start) =>
  (await import('./commands/run/ownRuntime.ts')).startOwnContainerd(directory, start);

/** The streams of this process, for a command in a container; others do not open their standard input. */
const terminal = (): CommandTerminal => ({
  input: process.stdin,
  screen: process.stdout,
  writeOut: passOn,
  writeErr: async (data) => void (process.stderr.write(data) || (await once(process.stderr, 'drain'))),
  say: (text) => void process.stderr.write(printable(text)),
});

const program = createProgram({
  run: async (flags) => {
    actUnread();
    ownUmask();
    const { requireRoot, run } = await import('./commands/run/run.ts');
    requireRoot();
    await run(flags, startNode, write);
  },
  up: async (flags) => {
    // A node goes on without a reader of its table.
    onUnwritten = () => {};
    ownUmask();
    await (await import('./commands/run/up.ts')).up(flags, {
      startNode,
      startRuntime,
      // The playground says what to do with it, above which the table opens.
      note: process.env.STATELET_NOTE,
      output: process.stdout,
      input: process.stdin,
    });
  },
  down: async (options) => {
    actUnread();
    ownUmask();
    const [{ down }, ends, { listeningAgents: listAgents }] = await Promise.all([
      import('./commands/run/down.ts'),
      import('./commands/run/ownRuntime.ts'),
      import('../socket/socketPath.ts'),
    ]);
    await down(options, { startNode, startRuntime, ...ends.ownContainerdEnds, listAgents, write });
  },
  get: async (options) => (await import('./commands/get/get.ts')).get(options, write),
  getActors: async (filter, options) => (await import('./commands/get/getActors.ts')).getActors(filter, options, write),
  getEvents: async (options) => (await import('./commands/get/getEvents.ts')).getEvents(options, write),
  getNodes: async (options) => (await import('./commands/get/getNodes.ts')).getNodes(options, write),
  describe: async (words, options) => (await import('./commands/get/describe.ts')).describe(words, options, write),
  explain: async (words, options) => (await import('./commands/get/explain.ts')).explain(words, options, write),
  exec: async (words, command, options) => {
    process.exitCode = await (await import('./commands/stream/exec.ts')).exec(words, command, options, terminal());
  },
  attach: async (words, options) => {
    process.exitCode = await (await import('./commands/stream/exec.ts')).attach(words, options, terminal());
  },
  logs: async (words, options) => {
    const { logs } = await import('./commands/stream/logs.ts');
    const isWhole = await logs(words, options, {
      isTerminal: process.stdout.isTTY,
      write: passOn,
      note: (text) => void process.stderr.write(printable(text)),
    });
    if (!isWhole) process.exitCode = 1;
  },
  delete: async (words, options) => (await import('./commands/run/delete.ts')).deletePod(words, options),
  top: async (words, options) => {
    const { top } = await import('./commands/top/top.ts');
    await top(words, options, { output: process.stdout, input: process.stdin });
  },
  topPods: async (options) => (await import('./commands/top/topUsage.ts')).topPods(options, write),
  topNodes: async (options) => (await import('./commands/top/topUsage.ts')).topNodes(options, write),
  imageList: async (names, options) => (await import('./commands/image/image.ts')).listImages(names, options, write),
  imageImport: async (file, options) => {
    actUnread();
    await (await import('./commands/image/image.ts')).importImage(file, options, { write, input: process.stdin });
  },
  imagePull: async (names, options) => {
    actUnread();
    await (await import('./commands/image/image.ts')).pullImages(names, options, write);
  },
  imageRemove: async (names, options) => {
    actUnread();
    await (await import('./commands/image/image.ts')).removeImages(names, options, write);
  },
  version: async (options) => (await import('./commands/version.ts')).version(options, write),
  completion: async (shell) => void write((await import('./commands/completionScripts.ts')).completionScript(shell)),
  complete: async (commands, words) => {
    const { askPods, complete } = await import('./commands/complete.ts');
    write(`${(await complete(commands, words, askPods)).join('\n')}\n`);
  },
  replay: async (file, options) => (await import('./commands/record/replay.ts')).replay(file, options, write),
  inspect: async (file, options) =>
    (await import('./commands/record/inspect.ts')).inspectRecording(file, options, write),
  recordDump: async (file, options) =>
    (await import('./commands/record/record.ts')).dumpRecording(file, options, write),
  charts: async (options) => (await import('./commands/record/charts.ts')).charts(options, write),
});

/** Ends the process when all is written, or was heard not to be: a stream tells of its errors a turn later. */
function end(code?: number): void {
  process.stdout.write('', () => setImmediate(() => exitNow(code ?? process.exitCode ?? 0)));
}

program.parseAsync().then(
  () => end(),
  (error) => {
    // Help and mistakes on the command line were told already.
    if (error instanceof CommanderError) return end(error.exitCode);
    process.stderr.write(printable(errorText(error)));
    end(1);
  },
);
