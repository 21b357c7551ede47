/** Serves `/debug/pprof/`: V8 profiles of the agent's process instead of Go's (`net/http/pprof`). */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { waitOnce } from '../../actors/alarm.ts';
import { printableLine } from '../../base/text/printable.ts';
import type { Clock } from '../../base/time/clock.ts';
import { lookUp } from '../../base/values/lookUp.ts';
import { NOSNIFF_HEADERS, sendText } from '../answers.ts';
import type { Exchange, HttpResponse, Route } from '../exchange.ts';
import type { RecordProfile } from './recordings.ts';

export interface ProfilesOptions {
  readonly clock: Clock;
  /** Returns the command line of the process, without secrets. */
  readonly command: () => readonly string[];
}

const PPROF_PATH = '/debug/pprof/';

/** Prevents concurrent recordings, because recordings use a lot of memory and CPU time. */
interface RecordingLock {
  currentRecording?: string;
}

type ProfileHandler = (exchange: Exchange, options: ProfilesOptions, lock: RecordingLock) => Promise<void> | void;

export function profilesRoute(options: ProfilesOptions): Route {
  const lock: RecordingLock = {};
  return {
    pathPrefix: PPROF_PATH,
    methods: ['GET'],
    handle: async (exchange) => {
      const name = exchange.url.pathname.slice(PPROF_PATH.length);
      const profileEntry = PROFILES.get(name);
      if (profileEntry !== undefined) await profileEntry.handle(exchange, options, lock);
      else if (name === '') sendIndex(exchange);
      else sendRefusal(exchange.response, 404, `Unknown profile: Node.js has ${[...PROFILES.keys()].join(', ')}`);
    },
  };
}

/** Sends an error response like `serveError` in Go's `net/http/pprof`. */
const sendRefusal = (response: HttpResponse, code: number, text: string): void =>
  sendText(response, { code, text: `${text}\n`, headers: { ...NOSNIFF_HEADERS, 'X-Go-Pprof': '1' } });

function sendIndex({ response }: Exchange): void {
  const rows = [...PROFILES].map(
    ([name, { description }]) => `<tr><td><a href='${name}'>${name}</a></td><td>${description}</td></tr>`,
  );
  const html = `<html>
<head>
<title>${PPROF_PATH}</title>
</head>
<body>
${PPROF_PATH}
<p>Types of profiles available:</p>
<table>
${rows.join('\n')}
</table>
</body>
</html>
`;
  sendText(response, {
    code: 200,
    text: html,
    headers: { ...NOSNIFF_HEADERS, 'Content-Type': 'text/html; charset=utf-8' },
  });
}

const handleCmdline: ProfileHandler = ({ response }, { command }) =>
  sendText(response, { code: 200, text: command().join('\0'), headers: NOSNIFF_HEADERS });

const handleActiveResources: ProfileHandler = ({ response }) => {
  const resourcesByKind = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const sortedKinds = [...resourcesByKind].toSorted(([, left], [, right]) => right.length - left.length);
  const text = sortedKinds.map(([kind, { length }]) => `${length} ${kind}\n`).join('');
  sendText(response, { code: 200, text, headers: NOSNIFF_HEADERS });
};

const importRecordings = () => import('./recordings.ts');

/** Default duration of a recording in seconds, as in Go's `profile`. */
const DEFAULT_SECONDS = 30;
/** Maximum duration of a response in seconds. A recording that would take this long or longer is refused. */
const MAX_SECONDS = 4 * 60 * 60;

interface RecordingRequest {
  readonly what: string;
  /** File name of the download. Its extension determines the tool that opens it. */
  readonly fileName: string;
  readonly selectRecording: (recordings: Awaited<ReturnType<typeof importRecordings>>) => RecordProfile;
}

const createRecordingHandler =
  (recordingRequest: RecordingRequest): ProfileHandler =>
  (exchange, parts, lock) =>
    handleRecording(exchange, parts, { ...recordingRequest, lock });

const handleProfile = createRecordingHandler({
  what: 'CPU profiling',
  fileName: 'profile.cpuprofile',
  selectRecording: ({ recordCpuProfile }) => recordCpuProfile,
});
const handleAllocs = createRecordingHandler({
  what: 'heap profiling',
  fileName: 'allocs.heapprofile',
  selectRecording: ({ recordAllocations }) => recordAllocations,
});

type LockedOperation = Pick<RecordingRequest, 'what'> & { readonly lock: RecordingLock };

async function handleRecording(
  exchange: Exchange,
  { clock }: ProfilesOptions,
  recordingRequest: RecordingRequest & LockedOperation,
): Promise<void> {
  const { response, signal, url } = exchange;
  const requestedSeconds = Number(url.searchParams.get('seconds') ?? '');
  const seconds = Number.isInteger(requestedSeconds) && requestedSeconds > 0 ? requestedSeconds : DEFAULT_SECONDS;
  if (seconds >= MAX_SECONDS) return sendRefusal(response, 400, "profile duration exceeds server's WriteTimeout");
  await withLock(response, recordingRequest, async () => {
    const ms = seconds * 1_000;
    const record = recordingRequest.selectRecording(await importRecordings());
    const waitForDuration = async () => {
      await waitOnce(clock.now() + ms, clock, signal);
      signal.throwIfAborted();
    };
    await sendFile(
      exchange,
      recordingRequest.fileName,
      Readable.from([JSON.stringify(await record(waitForDuration, ms))]),
    );
  });
}

const handleHeap: ProfileHandler = async (exchange, _, lock) => {
  const refusalMessage = checkSnapshotRefusal(exchange);
  if (refusalMessage !== undefined) return sendRefusal(exchange.response, 403, refusalMessage);
  await withLock(exchange.response, { lock, what: 'a heap snapshot' }, async () => {
    const { takeHeapSnapshot } = await importRecordings();
    exchange.signal.throwIfAborted();
    await takeHeapSnapshot((snapshot) => sendFile(exchange, 'heap.heapsnapshot', snapshot));
  });
};

const MASTERS_GROUP = 'system:masters';
/**
 * Headers that an API server adds to requests that it forwards to a node. The first is added by Go's
 * `httputil.ReverseProxy`, the second by `staging/src/k8s.io/apimachinery/pkg/util/proxy/transport.go`.
 */
const FORWARDED_HEADERS = ['x-forwarded-for', 'x-forwarded-uri'];

/**
 * Returns the reason why a client may not take a heap snapshot, which contains variables, Secrets and tokens of pods.
 * Undefined if the client may take one. Refuses forwarded requests, because the API server forwards the requests of
 * every user with access to `nodes/proxy` as its own user, which may be a member of system:masters.
 */
function checkSnapshotRefusal({ caller, request: { headers } }: Exchange): string | undefined {
  if (FORWARDED_HEADERS.some((name) => lookUp(headers, name) !== undefined))
    return `a heap snapshot contains Secrets: a member of ${MASTERS_GROUP} has to request it from the node itself, not through a proxy`;
  if (caller.groups.includes(MASTERS_GROUP)) return undefined;
  return `a heap snapshot contains Secrets: it is for members of ${MASTERS_GROUP}, and ${printableLine(caller.name)} is not one`;
}

async function withLock(
  response: HttpResponse,
  { lock, what }: LockedOperation,
  work: () => Promise<void>,
): Promise<void> {
  if (lock.currentRecording !== undefined)
    return sendRefusal(response, 500, `Could not enable ${what}: ${lock.currentRecording} already in use`);
  lock.currentRecording = what;
  try {
    await work();
  } finally {
    delete lock.currentRecording;
  }
}

async function sendFile({ response, signal }: Exchange, file: string, content: Readable): Promise<void> {
  response.writeHead(200, {
    ...NOSNIFF_HEADERS,
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${file}"`,
  });
  await pipeline(content, response, { signal });
}

/** The available profiles by name, with descriptions for the index page. */
const PROFILES: ReadonlyMap<string, { readonly description: string; readonly handle: ProfileHandler }> = new Map([
  [
    'allocs',
    { description: 'what is allocated in `seconds` (30) and stays, for DevTools: .heapprofile', handle: handleAllocs },
  ],
  ['cmdline', { description: 'the command line, its words separated by NUL', handle: handleCmdline }],
  ['goroutine', { description: 'what the event loop waits for, by kind', handle: handleActiveResources }],
  [
    'heap',
    {
      description: 'all objects in memory, for members of system:masters, for DevTools: .heapsnapshot',
      handle: handleHeap,
    },
  ],
  [
    'profile',
    { description: 'where the CPU time of `seconds` (30) goes, for DevTools: .cpuprofile', handle: handleProfile },
  ],
]);
