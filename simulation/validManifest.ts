/** What the node would take: what it refuses is nothing that anybody can expect to run. */
import { allManifestsIn } from '../actors/sources/manifestText.ts';
import { printable } from '../pod/show/printable.ts';
import { NODE_NAME } from './host.ts';
import type { Manifest } from './stories/manifests.ts';

const ORIGIN = {
  source: 'file',
  origin: '',
  nodeName: NODE_NAME,
  seenAt: 0,
  classes: new Map(),
  admitted: new Map(),
} as const;

/** Gives a manifest of its own; throws a `TypeError` that says everything that the node would refuse it for. */
export function validManifest(pod: unknown, { isLenient = false }: { readonly isLenient?: boolean } = {}): Manifest {
  const text = JSON.stringify(pod) ?? '';
  const wrong = [...allManifestsIn({ text, kind: 'file', origin: { ...ORIGIN, isLenient } })].flatMap(({ read }) =>
    'problems' in read ? read.problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)) : [],
  );
  if (wrong.length > 0) throw new TypeError(printable(`the node takes no such manifest: ${wrong.join('; ')}`));
  // It has what the schema of pods asks for; what becomes of the object that was given changes nothing here.
  return JSON.parse(text) as Manifest;
}
