/** Serves `/debug/pprof/`: V8 profiles of the agent's process instead of Go's (`net/http/pprof`). */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { waitOnce } from '../../actors/alarm.ts';
import type { Clock } from '../../base/clock.ts';
import { lookUp } from '../../base/lookUp.ts';
import { printableLine } from '../../base/printable.ts';
import { NOSNIFF, sendText } from '../answers.ts';
import type { Exchange, HttpResponse, Route } from '../exchange.ts';
import type { Recording } from './recordings.ts';

export interface ProfilesOptions {
  readonly clock: Clock;
  /** Returns the command line of the process, without secrets. */
  readonly command: () => readonly string[];
}

const TREE = '/debug/pprof/';

/** Allows only one recording at a time, because recordings cost memory and CPU time. */
interface RecordingLock {
  with?: string;
}

type ProfileHandler = (exchange: Exchange, parts: ProfilesOptions, busy: RecordingLock) => Promise<void> | void;

export function profilesRoute(parts: ProfilesOptions): Route {
  const busy: RecordingLock = {};
  return {
    tree: TREE,
    methods: ['GET'],
    answer: async (exchange) => {
      const name = exchange.url.pathname.slice(TREE.length);
      const profileEntry = PROFILES.get(name);
      if (profileEntry !== undefined) await profileEntry.answer(exchange, parts, busy);
      else if (name === '') index(exchange);
      else refuse(exchange.response, 404, `Unknown profile: Node.js has ${[...PROFILES.keys()].join(', ')}`);
    },
  };
}

/** Responds like Go's `serveError`. */
const refuse = (response: HttpResponse, code: number, text: string): void =>
  sendText(response, { code, text: `${text}\n`, headers: { ...NOSNIFF, 'X-Go-Pprof': '1' } });

function index({ response }: Exchange): void {
  const rows = [...PROFILES].map(
    ([name, { about }]) => `<tr><td><a href='${name}'>${name}</a></td><td>${about}</td></tr>`,
  );
  const text = `<html>
<head>
<title>${TREE}</title>
</head>
<body>
${TREE}
<p>Types of profiles available:</p>
<table>
${rows.join('\n')}
</table>
</body>
</html>
`;
  sendText(response, { code: 200, text, headers: { ...NOSNIFF, 'Content-Type': 'text/html; charset=utf-8' } });
}

const cmdline: ProfileHandler = ({ response }, { command }) =>
  sendText(response, { code: 200, text: command().join('\0'), headers: NOSNIFF });

const activeResources: ProfileHandler = ({ response }) => {
  const counts = Map.groupBy(process.getActiveResourcesInfo(), (kind) => kind);
  const lines = [...counts].toSorted(([, one], [, other]) => other.length - one.length);
  const text = lines.map(([kind, { length }]) => `${length} ${kind}\n`).join('');
  sendText(response, { code: 200, text, headers: NOSNIFF });
};

const recordings = () => import('./recordings.ts');

/** Default duration of a recording in seconds, as in Go's `profile`. */
const DEFAULT_SECONDS = 30;
/** Maximum duration of a response in seconds. A request for a recording of this length or longer is refused. */
const MAX_SECONDS = 4 * 60 * 60;

interface Wanted {
  readonly what: string;
  /** File name of the download, which determines how tools open it. */
  readonly file: string;
  readonly by: (all: Awaited<ReturnType<typeof recordings>>) => Recording;
}

const recording =
  (wanted: Wanted): ProfileHandler =>
  (exchange, parts, busy) =>
    handleRecording(exchange, parts, { ...wanted, busy });

const profile = recording({
  what: 'CPU profiling',
  file: 'profile.cpuprofile',
  by: ({ cpuProfile }) => cpuProfile,
});
const allocs = recording({
  what: 'heap profiling',
  file: 'allocs.heapprofile',
  by: ({ allocations }) => allocations,
});

type Alone = Pick<Wanted, 'what'> & { readonly busy: RecordingLock };

async function handleRecording(exchange: Exchange, { clock }: ProfilesOptions, wanted: Wanted & Alone): Promise<void> {
  const { response, signal, url } = exchange;
  const requestedSeconds = Number(url.searchParams.get('seconds') ?? '');
  const seconds = Number.isInteger(requestedSeconds) && requestedSeconds > 0 ? requestedSeconds : DEFAULT_SECONDS;
  if (seconds >= MAX_SECONDS) return refuse(response, 400, "profile duration exceeds server's WriteTimeout");
  await withLock(response, wanted, async () => {
    const ms = seconds * 1_000;
    const record = wanted.by(await recordings());
    const wait = async () => {
      await waitOnce(clock.now() + ms, clock, signal);
      signal.throwIfAborted();
    };
    await send(exchange, wanted.file, Readable.from([JSON.stringify(await record(wait, ms))]));
  });
}

const heap: ProfileHandler = async (exchange, _, busy) => {
  const refused = snapshotRefusal(exchange);
  if (refused !== undefined) return refuse(exchange.response, 403, refused);
  await withLock(exchange.response, { busy, what: 'a heap snapshot' }, async () => {
    const { heapSnapshot } = await recordings();
    exchange.signal.throwIfAborted();
    await heapSnapshot((snapshot) => send(exchange, 'heap.heapsnapshot', snapshot));
  });
};

const MASTERS = 'system:masters';
/**
 * Headers that an API server adds to requests that it forwards to a node. The first is added by Go's
 * `httputil.ReverseProxy`, the second by `staging/src/k8s.io/apimachinery/pkg/util/proxy/transport.go`.
 */
const FORWARDED = ['x-forwarded-for', 'x-forwarded-uri'];

/**
 * Returns the reason why a client may not take a heap snapshot, which contains variables, Secrets and tokens of pods.
 * Undefined if the client may take one. A forwarded request is refused, because the API server sends the requests of
 * every user with access to `nodes/proxy` under its own name, which may be a member of system:masters.
 */
function snapshotRefusal({ caller, request: { headers } }: Exchange): string | undefined {
  if (FORWARDED.some((name) => lookUp(headers, name) !== undefined))
    return `a heap snapshot contains Secrets: a member of ${MASTERS} has to request it from the node itself, not through a proxy`;
  if (caller.groups.includes(MASTERS)) return undefined;
  return `a heap snapshot contains Secrets: it is for members of ${MASTERS}, and ${printableLine(caller.name)} is not one`;
}

async function withLock(response: HttpResponse, { busy, what }: Alone, work: () => Promise<void>): Promise<void> {
  if (busy.with !== undefined) return refuse(response, 500, `Could not enable ${what}: ${busy.with} already in use`);
  busy.with = what;
  try {
    await work();
  } finally {
    delete busy.with;
  }
}

async function send({ response, signal }: Exchange, file: string, from: Readable): Promise<void> {
  response.writeHead(200, {
    ...NOSNIFF,
    'Content-Type': 'application/octet-stream',
    'Content-Disposition': `attachment; filename="${file}"`,
  });
  await pipeline(from, response, { signal });
}

/** The available profiles by name, with descriptions for the index page. */
const PROFILES: ReadonlyMap<string, { readonly about: string; readonly answer: ProfileHandler }> = new Map([
  ['allocs', { about: 'what is allocated in `seconds` (30) and stays, for DevTools: .heapprofile', answer: allocs }],
  ['cmdline', { about: 'the command line, its words separated by NUL', answer: cmdline }],
  ['goroutine', { about: 'what the event loop waits for, by kind', answer: activeResources }],
  [
    'heap',
    { about: 'all objects in memory, for members of system:masters, for DevTools: .heapsnapshot', answer: heap },
  ],
  ['profile', { about: 'where the CPU time of `seconds` (30) goes, for DevTools: .cpuprofile', answer: profile }],
]);
