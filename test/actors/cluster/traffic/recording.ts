/** The recorded requests of a kubelet to a kube-apiserver. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../support/root.ts';

/** A request of a node, recorded or simulated. */
export interface SentRequest {
  /** Time in milliseconds since the start of the scenario. */
  readonly ms: number;
  /** The HTTP method, or `WATCH` for a watch. */
  readonly verb: string;
  /** The path without its query. */
  readonly path: string;
  /** The name of the object, for a watch or a list of a single object. */
  readonly object?: string | undefined;
  readonly body: unknown;
  /** The status code. Absent if there was no response. */
  readonly code?: number | undefined;
}

const FOLDER = join(root, 'test/recorded/kubelet');

/** A line of a recording. The project has written the recordings itself. */
interface Line {
  readonly ms: number;
  readonly verb?: string;
  readonly path?: string;
  readonly request?: unknown;
  /** Null if there was no response. */
  readonly code?: number | null;
}

/** Returns the kubelet's requests in a scenario, e.g. in `16-evict`. */
export function recordedRequests(scenario: string): readonly SentRequest[] {
  const text = readFileSync(join(FOLDER, `${scenario}.jsonl`), 'utf8');
  // The recordings are part of the project, so their format is known.
  const lines = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
  return lines.flatMap(({ ms, verb, path, request, code }) =>
    verb === undefined || path === undefined
      ? []
      : [
          {
            ms,
            verb: verb === 'GET (watch)' ? 'WATCH' : verb,
            ...placeOf(path),
            body: request,
            code: code ?? undefined,
          },
        ],
  );
}

/**
 * Returns the path of a URL, and the single object that it selects. Other parameters, e.g. the timeout of a watch, are
 * ignored.
 */
export function placeOf(url: string): Pick<SentRequest, 'path' | 'object'> {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const [, object] = /^metadata\.name=(.+)$/.exec(searchParams.get('fieldSelector') ?? '') ?? [];
  return { path: decodeURIComponent(pathname), object };
}
