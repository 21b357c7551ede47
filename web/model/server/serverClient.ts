/** The HTTP client for the page's server. */
import type {
  ActorDetail,
  ActorHistory,
  Drawing,
  Rail,
  ShownLog,
  ShownObject,
  ShownPayload,
  Snapshot,
  Story,
} from '../../../inspect/protocol.ts';
import { escapeTexts } from '../log/escapeTexts.ts';

/**
 * The requests that the page can send. Each method rejects with an `Error` whose message states why the request failed.
 */
export interface ServerClient {
  snapshot(at: number): Promise<Snapshot>;
  /** Returns the history of a pod. An empty `uid` selects the node's own actors. */
  story(uid: string, from: number, to: number): Promise<Story>;
  rail(): Promise<Rail>;
  detail(path: string, at?: number): Promise<ActorDetail>;
  actorHistory(path: string, at?: number): Promise<ActorHistory>;
  /** Returns the current log of a container. */
  log(path: string): Promise<ShownLog>;
  object(uid: string, at?: number): Promise<ShownObject>;
  /** Returns the payload of the input that `actor` received from `source` at the time `at`. */
  entry(actor: string, source: string, at: number): Promise<ShownPayload>;
  drawing(machine: string, region?: string): Promise<Drawing>;
}

/** Creates a client that sends requests with `fetch`. `fetch` must add the token if the server requires one. */
export function createClient(fetch: (resource: string) => Promise<Response>): ServerClient {
  const fetchJson = async <T>(
    resource: string,
    search: Readonly<Record<string, string | number | undefined>> = {},
    escapesNewlines = true,
  ) => {
    const definedParameters = Object.entries(search).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(
      Object.fromEntries(definedParameters.map(([key, value]) => [key, String(value)])),
    ).toString();
    const response = await fetch(`${resource}${query ? `?${query}` : ''}`);
    if (!response.ok) throw new Error(await responseError(response));
    // Safe cast: the page and its server have the same version of the protocol.
    return escapeTexts((await response.json()) as T, escapesNewlines);
  };
  return {
    snapshot: (at) => fetchJson<Snapshot>('/api/snapshot', { at }),
    story: (uid, from, to) => fetchJson<Story>('/api/story', { uid, from, to }),
    rail: () => fetchJson<Rail>('/api/rail'),
    detail: (path, at) => fetchJson<ActorDetail>('/api/detail', { path, at }),
    actorHistory: (path, at) => fetchJson<ActorHistory>('/api/history', { path, at }),
    log: (path) => fetchJson<ShownLog>('/api/log', { path }),
    object: (uid, at) => fetchJson<ShownObject>('/api/object', { uid, at }, false),
    entry: (actor, source, at) => fetchJson<ShownPayload>('/api/entry', { actor, source, at }, false),
    drawing: (machine, region) => fetchJson<Drawing>(`/assets/charts/${machine}${region ? `.${region}` : ''}.json`),
  };
}

/** Returns the message of a Kubernetes Status object, or the HTTP status code. */
async function responseError(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined;
  return typeof message === 'string' ? escapeTexts(message) : `the server answered ${response.status}`;
}
