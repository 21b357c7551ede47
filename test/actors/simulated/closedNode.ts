/**
 * A process of its own: a node takes pods through their life while nothing of the host can be reached. Prints what was
 * seen and what was reached for, then the same of nodes that lack one of the parts which are named.
 */
import { closeHost } from '../../support/closedHost.ts';

// What it loads may keep what it finds: it is to find what can be closed.
const { ClosedNode } = await import('./closedStory.ts');

const failed = (error: unknown): string => (error instanceof Error ? (error.stack ?? error.message) : String(error));

async function run(without: string): Promise<object> {
  const node = new ClosedNode(without);
  const note = (error: unknown) => void node.errors.push(failed(error));
  const open = closeHost();
  process.on('unhandledRejection', note);
  const seen = await node.story().catch(note);
  process.off('unhandledRejection', note);
  const reached = open().map((call) => (without === '' ? call : /^Error: (.*) is closed/.exec(call)?.[1]));
  return { seen, errors: node.errors, reached: [...new Set(reached)] };
}

const results: Record<string, object> = {};
for (const without of ['', ...process.argv.slice(2)]) results[without] = await run(without);
process.stdout.write(JSON.stringify(results));
