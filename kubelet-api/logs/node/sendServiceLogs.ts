/**
 * Reads the logs of the node's services from the journal or, for services without a journal, from files
 * (`pkg/kubelet/kubelet_server_journal.go`).
 */
import { Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import { isMissing, isTooLong } from '../../../host/files/fileErrors.ts';
import { readPlainBlocks } from '../../../host/logs/logBlocks.ts';
import { runProgram } from '../../../host/program.ts';
import { streamProgramOutput } from '../../../host/programOutput.ts';
import type { Exchange } from '../../exchange.ts';
import { writeAll } from '../../writeAll.ts';
import type { NodeLogOptions, NodeLogQuery } from './nodeLogQuery.ts';
import { openInside, systemErrorMessage } from './openInside.ts';

export interface NodeLogsParts {
  /** The directory of the node's logs. */
  readonly root: string;
  /** Path of the `journalctl` binary. */
  readonly journalctl: string;
}

/** Timeout of journalctl, in milliseconds. */
const JOURNAL_TIMEOUT_MS = 30_000;
const MAX_UNITS_BYTES = 4 * 1_024 * 1_024;
const BLOCK_BYTES = 16 * 1_024;

/** Sends the logs of services, compressed if gzip is the only encoding that the client accepts. */
export async function sendServiceLogs(parts: NodeLogsParts, query: NodeLogQuery, exchange: Exchange): Promise<void> {
  const { request, response, signal } = exchange;
  const isCompressed = request.headers['accept-encoding'] === 'gzip';
  response.writeHead(200, {
    'Content-Type': 'text/plain;charset=UTF-8',
    ...(isCompressed ? { 'Content-Encoding': 'gzip' } : {}),
  });
  const logChunks = readServiceLogs(parts, query, signal);
  await writeAll(response, isCompressed ? compressText(logChunks) : logChunks, signal);
  response.end();
}

async function* compressText(text: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const textStream = Readable.from(text, { objectMode: false });
  const gzipStream = createGzip({ level: constants.Z_BEST_SPEED });
  textStream.on('error', (error) => gzipStream.destroy(error));
  try {
    // Safe cast: a byte stream yields buffers.
    yield* textStream.pipe(gzipStream) as AsyncIterable<Buffer>;
  } finally {
    textStream.destroy();
    gzipStream.destroy();
  }
}

async function* readServiceLogs(
  parts: NodeLogsParts,
  query: NodeLogQuery,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const { services, options } = query;
  const journalUnits = await listUnits(parts, signal);
  const servicesInFiles = services.filter((service) => !journalUnits.has(`${service}.service`));
  if (servicesInFiles.length === 0) return yield* readJournal(parts, query, signal);
  if (Object.keys(options).length > 0) {
    const quotedServices = `[${servicesInFiles.join(' ')}]`;
    yield Buffer.from(
      `\noptions present and query resolved to log files for ${quotedServices}\ntry without specifying options\n`,
    );
    return;
  }
  for (const service of servicesInFiles) yield* readServiceFile(parts, service);
}

/** Returns the full names of all units in the journal. Empty if there is no journal. */
async function listUnits({ journalctl }: NodeLogsParts, signal: AbortSignal): Promise<ReadonlySet<string>> {
  const options = { signal, timeoutMs: JOURNAL_TIMEOUT_MS, maxOutputBytes: MAX_UNITS_BYTES };
  const unitNames = await runProgram(journalctl, ['--field', '_SYSTEMD_UNIT'], options).catch(() => '');
  return new Set(unitNames.split('\n'));
}

async function* readJournal({ journalctl }: NodeLogsParts, query: NodeLogQuery, signal: AbortSignal) {
  try {
    yield* streamProgramOutput(journalctl, journalArguments(query), { signal, timeoutMs: JOURNAL_TIMEOUT_MS });
  } catch {
    if ((query.options.boot ?? 0) === 0) yield Buffer.from('\nerror: journal output not available\n');
  }
}

/**
 * Returns the arguments for journalctl. Passes each value as `--flag=value`, because a separate value could be parsed
 * as a flag.
 */
function journalArguments({ services, options }: NodeLogQuery): string[] {
  const { since, until, tailLines, pattern, boot }: NodeLogOptions = options;
  return [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    ...(since === undefined ? [] : [`--since=${formatJournalTime(since)}`]),
    ...(until === undefined ? [] : [`--until=${formatJournalTime(until)}`]),
    ...(tailLines === undefined ? [] : ['--pager-end', `--lines=${tailLines}`]),
    ...services.map((service) => `--unit=${service}`),
    ...(pattern === undefined ? [] : [`--grep=${pattern}`, '--case-sensitive=false']),
    ...(boot === undefined ? [] : [`--boot=${boot}`]),
  ];
}

/** Formats a timestamp for journalctl. Omits the fraction, as the kubelet does. */
const formatJournalTime = (timestamp: string): string => `${timestamp.slice(0, 19).replace('T', ' ')} UTC`;

/** Reads the first existing log file of the given service. */
async function* readServiceFile({ root }: NodeLogsParts, service: string): AsyncGenerator<Buffer> {
  try {
    for (const name of [service, `${service}.log`, `${service}/${service}.log`]) {
      const file = await openInside(root, name).catch((error: unknown) => {
        if (!isMissing(error) || isTooLong(error)) throw error;
      });
      if (file === undefined) continue;
      try {
        if (file.kind === 'other') throw new Error('not a regular file');
        if (file.kind === 'file')
          return yield* readPlainBlocks(file.handle, { to: file.stats.size, blockBytes: BLOCK_BYTES });
      } finally {
        await file.handle.close();
      }
    }
    yield Buffer.from(`\nlog not found for ${service}\n`);
  } catch (error) {
    yield Buffer.from(`\nerror getting log for ${service}: ${systemErrorMessage(error)}\n`);
  }
}
