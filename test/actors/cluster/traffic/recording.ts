/** What a kubelet sent to a kube-apiserver, as it was recorded. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../support/root.ts';

/** One request of a node, whoever was the node. */
export interface SentRequest {
  /** Milliseconds since the scenario's first moment. */
  readonly ms: number;
  /** `WATCH` for a GET that goes on. */
  readonly verb: string;
  /** Without its query. */
  readonly path: string;
  /** The name of the only object of that path that a watch or a list is about. */
  readonly object?: string | undefined;
  readonly body: unknown;
  /** Absent where there was no answer. */
  readonly code?: number | undefined;
}

const FOLDER = join(root, 'test/recorded/kubelet');

/** The lines of a recording, which the project wrote itself. */
interface Line {
  readonly ms: number;
  readonly verb?: string;
  readonly path?: string;
  readonly request?: unknown;
  /** Null where there was no answer. */
  readonly code?: number | null;
}

/** The kubelet's requests in a scenario: `16-evict`. */
export function recordedRequests(scenario: string): readonly SentRequest[] {
  const text = readFileSync(join(FOLDER, `${scenario}.jsonl`), 'utf8');
  // The files are part of the project.
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

/** Which object is asked for says more than how long a watch is to last. */
export function placeOf(url: string): Pick<SentRequest, 'path' | 'object'> {
  const { pathname, searchParams } = new URL(url, 'https://server');
  const [, object] = /^metadata\.name=(.+)$/.exec(searchParams.get('fieldSelector') ?? '') ?? [];
  return { path: decodeURIComponent(pathname), object };
}
