import { once } from 'node:events';
import { CommanderError } from 'commander';
import { printableText } from '../base/text/printable.ts';
import type { StartNode } from '../node/start/startNode.ts';
import type { UpDependencies } from './commands/run/up.ts';
import { errorText } from './output/errorText.ts';
import { writeErrorMessage, writeFully } from './output/standardOutput.ts';
import { createProgram } from './program.ts';
import type { CommandTerminal } from './terminal/commandTerminal.ts';
import { exitNow } from './terminal/exitNow.ts';

function write(text: string): void {
  try {
    writeFully(process.stdout, printableText(text));
  } catch (error) {
    onWriteError(error);
  }
}

/** Writes the output of a container. Resolves when standard output accepts more data. */
async function writeOutput(data: string | Uint8Array): Promise<void> {
  try {
    if (!writeFully(process.stdout, data)) await once(process.stdout, 'drain');
  } catch (error) {
    onWriteError(error);
  }
}

/** By default, a failed write terminates the process, because a command that only prints has nothing left to do. */
let onWriteError = (error: unknown): void => {
  reportWriteError(error);
  process.exit();
};
process.stdout.on('error', (error) => onWriteError(error));

/** Prints the reason for a failed write and sets the exit code. A closed pipe (EPIPE) is not an error. */
function reportWriteError(error: unknown): void {
  const reason = writeErrorMessage(error);
  if (reason === undefined) return;
  process.stderr.write(`statelet: ${reason}\n`);
  process.exitCode = 1;
}

/** Lets a command with side effects complete even if its output cannot be written. */
function continueAfterWriteErrors(): void {
  let isReported = false;
  onWriteError = (error) => {
    if (!isReported) reportWriteError(error);
    isReported = true;
  };
}

// Ignore errors on standard error, because there is no other place to report them.
process.stderr.on('error', () => {});

/** Makes the modes of created files independent of the caller's umask. */
const setDefaultUmask = () => void process.umask(0o022);

// Imports the node only after the configuration has been validated, because the import loads gRPC and all actors.
const startNode: StartNode = async (options) => (await import('../node/start/startNode.ts')).startNode(options);

const startRuntime: UpDependencies['startRuntime'] = async (directory, start) =>
  (await import('./commands/run/privateRuntime.ts')).startPrivateContainerd(directory, start);

/**
 * Returns the streams of this process. This is not a constant, because reading `process.stdin` would open standard
 * input in every command.
 */
const createTerminal = (): CommandTerminal => ({
  input: process.stdin,
  screen: process.stdout,
  writeOut: writeOutput,
  writeErr: async (data) => void (process.stderr.write(data) || (await once(process.stderr, 'drain'))),
  printMessage: (text) => void process.stderr.write(printableText(text)),
});

const program = createProgram({
  run: async (flags) => {
    continueAfterWriteErrors();
    setDefaultUmask();
    const { requireRoot, run } = await import('./commands/run/run.ts');
    requireRoot();
    await run(flags, startNode, write);
  },
  up: async (flags) => {
    // Ignore write errors, so that the node keeps running even if its table cannot be written.
    onWriteError = () => {};
    setDefaultUmask();
    await (await import('./commands/run/up.ts')).up(flags, {
      startNode,
      startRuntime,
      // The playground passes instructions in this variable. They are printed above the table.
      note: process.env.STATELET_NOTE,
      output: process.stdout,
      input: process.stdin,
    });
  },
  down: async (options) => {
    continueAfterWriteErrors();
    setDefaultUmask();
    const [{ runDown }, ownContainerd, { findListeningAgents: listAgents }] = await Promise.all([
      import('./commands/run/down.ts'),
      import('./commands/run/privateRuntime.ts'),
      import('../socket/socketPath.ts'),
    ]);
    await runDown(options, { startNode, startRuntime, ...ownContainerd.privateContainerdCleanup, listAgents, write });
  },
  get: async (options) => (await import('./commands/get/get.ts')).get(options, write),
  getActors: async (filter, options) => (await import('./commands/get/getActors.ts')).getActors(filter, options, write),
  getEvents: async (options) => (await import('./commands/get/getEvents.ts')).getEvents(options, write),
  getNodes: async (options) => (await import('./commands/get/getNodes.ts')).getNodes(options, write),
  describe: async (args, options) => (await import('./commands/get/describe.ts')).describe(args, options, write),
  explain: async (args, options) => (await import('./commands/get/explain.ts')).explain(args, options, write),
  exec: async (args, command, options) => {
    process.exitCode = await (await import('./commands/stream/exec.ts')).exec(args, command, options, createTerminal());
  },
  attach: async (args, options) => {
    process.exitCode = await (await import('./commands/stream/exec.ts')).attach(args, options, createTerminal());
  },
  logs: async (args, options) => {
    const { printLogs } = await import('./commands/stream/printLogs.ts');
    const isComplete = await printLogs(args, options, {
      isTerminal: process.stdout.isTTY,
      write: writeOutput,
      printNote: (text) => void process.stderr.write(printableText(text)),
    });
    if (!isComplete) process.exitCode = 1;
  },
  delete: async (args, options) => (await import('./commands/run/deletePod.ts')).deletePod(args, options),
  top: async (words, options) => {
    const { top } = await import('./commands/top/top.ts');
    await top(words, options, { output: process.stdout, input: process.stdin });
  },
  topPods: async (options) => (await import('./commands/top/topUsage.ts')).topPods(options, write),
  topNodes: async (options) => (await import('./commands/top/topUsage.ts')).topNodes(options, write),
  imageList: async (names, options) => (await import('./commands/image/image.ts')).listImages(names, options, write),
  imageImport: async (file, options) => {
    continueAfterWriteErrors();
    await (await import('./commands/image/image.ts')).importImage(file, options, { write, input: process.stdin });
  },
  imagePull: async (names, options) => {
    continueAfterWriteErrors();
    await (await import('./commands/image/image.ts')).pullImages(names, options, write);
  },
  imageRemove: async (names, options) => {
    continueAfterWriteErrors();
    await (await import('./commands/image/image.ts')).removeImages(names, options, write);
  },
  version: async (options) => (await import('./commands/version.ts')).version(options, write),
  completion: async (shell) => void write((await import('./commands/completionScripts.ts')).completionScript(shell)),
  complete: async (commands, words) => {
    const { listPods, complete } = await import('./commands/complete.ts');
    write(`${(await complete(commands, words, listPods)).join('\n')}\n`);
  },
  replay: async (file, options) => (await import('./commands/record/replay.ts')).replay(file, options, write),
  inspect: async (file, options) =>
    (await import('./commands/record/inspectRecording.ts')).inspectRecording(file, options, write),
  recordDump: async (file, options) =>
    (await import('./commands/record/dumpRecording.ts')).dumpRecording(file, options, write),
  charts: async (options) => (await import('./commands/record/charts.ts')).printCharts(options, write),
});

/**
 * Exits when all output has been written. Waits one more turn of the event loop, because streams emit errors a turn
 * later.
 */
function exitWhenFlushed(code?: number): void {
  process.stdout.write('', () => setImmediate(() => exitNow(code ?? process.exitCode ?? 0)));
}

program.parseAsync().then(
  () => exitWhenFlushed(),
  (error) => {
    // Commander has already printed the help or the error.
    if (error instanceof CommanderError) return exitWhenFlushed(error.exitCode);
    process.stderr.write(printableText(errorText(error)));
    exitWhenFlushed(1);
  },
);
