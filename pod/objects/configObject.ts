/** ConfigMaps and Secrets, as far as pods need them; whoever hands them out says where they come from. */
import * as z from 'zod/mini';

export type ConfigKind = 'ConfigMap' | 'Secret';

/** What a pod names: always an object of its own namespace. */
export interface ConfigReference {
  readonly kind: ConfigKind;
  readonly namespace: string;
  readonly name: string;
}

export interface ConfigObject extends ConfigReference {
  readonly uid: string;
  readonly resourceVersion: string;
  /** It never changes again: nobody needs to follow it. */
  readonly isImmutable: boolean;
  /** Of a Secret: how its data is to be read, as `kubernetes.io/dockerconfigjson`; empty for a ConfigMap. */
  readonly type: string;
  /** By key. Texts are a ConfigMap's `data`; bytes its `binaryData`, or a Secret's `data`. */
  readonly data: ReadonlyMap<string, string | Buffer>;
}

/** Texts by key, as a list: keys come from outside, and those of a plain object lose `__proto__`. */
const entries = z.pipe(
  z._default(z.unknown(), null),
  z.transform((map, { issues }) => {
    const found = typeof map === 'object' && map !== null ? Object.entries(map) : [];
    return found.flatMap(([key, value]: readonly [string, unknown]) => {
      if (typeof value === 'string') return [[key, value] as const];
      issues.push({
        code: 'invalid_type',
        expected: 'string',
        input: value,
        path: [key],
        message: 'expected a string',
      });
      return [];
    });
  }),
);
const bytes = z.pipe(
  entries,
  z.transform((all) => all.map(([key, text]) => [key, Buffer.from(text, 'base64')] as const)),
);

const metadata = z.object({
  namespace: z.string(),
  name: z.string(),
  uid: z.string(),
  resourceVersion: z._default(z.string(), ''),
});
const common = { metadata, immutable: z._default(z.nullable(z.boolean()), null) };
const configMapSchema = z.object({ ...common, data: entries, binaryData: bytes });
const secretSchema = z.object({ ...common, type: z._default(z.string(), 'Opaque'), data: bytes });

/** Reads what an API server has of it; throws what is wrong with it, and nothing that stands in it. */
export function readConfigObject(kind: ConfigKind, object: unknown): ConfigObject {
  if (kind === 'Secret') {
    const { metadata: named, immutable, type, data } = parsed(secretSchema, kind, object);
    return { kind, ...named, isImmutable: immutable ?? false, type, data: new Map(data) };
  }
  const { metadata: named, immutable, data, binaryData } = parsed(configMapSchema, kind, object);
  const all = new Map<string, string | Buffer>([...data, ...binaryData]);
  return { kind, ...named, isImmutable: immutable ?? false, type: '', data: all };
}

function parsed<Schema extends z.core.$ZodType>(schema: Schema, kind: ConfigKind, object: unknown): z.output<Schema> {
  const read = z.safeParse(schema, object);
  if (read.success) return read.data;
  const [{ path, message } = { path: [], message: '' }] = read.error.issues;
  throw new Error(`this is no ${kind}: ${[...path].join('.')}: ${message}`);
}
