/**
 * Program that takes pods through their life on a node while the host is closed. It prints what it observed and which
 * functions of the host were called, and then the same for nodes without each of the named parts.
 */
import { closeHost } from '../../support/closedHost.ts';

// The imported modules may store references to functions, so the host must be closable before they are loaded.
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
