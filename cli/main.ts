import { NodeFailure } from '../pod/failure.ts';
import { ConfigError } from './config/configError.ts';
import { createProgram } from './program.ts';
import type { StartNode } from './startNode.ts';
import type { UpParts } from './up.ts';

const write = (text: string) => process.stdout.write(text);

/** What went wrong, for the user: a mistake of theirs by its message alone, one of ours with where it happened. */
function messageOf(error: unknown): string {
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => `statelet: ${line}\n`)
      .join('');
  if (error instanceof ConfigError || error instanceof NodeFailure) return lines(error.message);
  return lines(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

// Only loaded when the configuration has no mistakes: it brings gRPC and the actors along.
const startNode: StartNode = async (options) => (await import('./node.ts')).startNode(options);

const program = createProgram({
  run: async (flags) => (await import('./run.ts')).run(flags, startNode),
  up: async (flags) => {
    const startRuntime: UpParts['startRuntime'] = async (directory, onProgress) =>
      (await import('./ownRuntime.ts')).startOwnContainerd(directory, onProgress);
    await (await import('./up.ts')).up(flags, { startNode, startRuntime, output: process.stdout });
  },
  get: async (options) => (await import('./get.ts')).get(options, write),
  explain: async (words, options) => (await import('./explain.ts')).explain(words, options, write),
});

// The reader of a pipe may go before we are done (`statelet get pods | head`).
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  process.stderr.write(messageOf(error));
  process.exit(1);
}
