/** The recorded requests and responses of a real kube-apiserver, from test/recorded/apiserver. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../../testing/apiserver/json.ts';
import { root } from '../../../support/root.ts';

export interface VectorRequest {
  readonly method: string;
  readonly path: string;
  /** Additional request headers. Null removes a default header. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: Json;
  readonly bodyText?: string;
  /** The length in characters to which `<pad>` extends the body. */
  readonly padTo?: number;
}

interface Step {
  readonly as: string;
  readonly request: VectorRequest;
  readonly sleepMs?: number;
  readonly bind?: Readonly<Record<string, string>>;
}

interface Expected {
  readonly code: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Json;
  readonly text?: string;
  readonly events?: readonly Json[];
  readonly ended?: boolean;
  /** The claims of the token in the response. */
  readonly claims?: JsonObject | null;
}

export interface Vector extends Step {
  readonly id: string;
  readonly scene: string;
  /** Whether the request only prepares the scene, so that its response is not compared. */
  readonly setup?: boolean;
  readonly response?: Expected;
  readonly watch?: {
    readonly during?: readonly Step[];
    readonly quietMs?: number;
    readonly untilEnd?: boolean;
    readonly maxMs?: number;
    readonly bookmarks?: boolean;
  };
  readonly background?: Step;
  readonly afterMs?: number;
  readonly pre?: 'compact';
  readonly keepManagedFields?: boolean;
  readonly subset?: boolean;
  readonly ignore?: readonly string[];
}

const folder = join(root, 'test/recorded/apiserver');

/** The names of the groups in numerical order, e.g. `1-discovery`. */
export const groups: readonly string[] = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl'))
  .map((name) => name.replace('.jsonl', ''))
  .sort((one, other) => Number.parseInt(one, 10) - Number.parseInt(other, 10));

export const vectorsOf = (group: string): Vector[] =>
  readFileSync(join(folder, `${group}.jsonl`), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line): Vector => JSON.parse(line));
