/** Pods with the answers of a kube-apiserver 1.36 to them, for all that check pods. */
import metadata from './metadata.json' with { type: 'json' };
import staticPods from './staticPods.json' with { type: 'json' };

export interface Answer {
  readonly case: string;
  readonly pod: { readonly metadata: object; readonly spec: object };
  /** The message after "is invalid: ", or `accepted`. */
  readonly answer: string;
  /** The message for a static pod, where it is another one than for a pod of a cluster. */
  readonly ofManifest?: string | undefined;
}

const OF_MANIFESTS: ReadonlyMap<string, string> = new Map([
  [
    'overhead without class',
    'spec.overhead: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
  ],
  ['resourceClaims', 'spec.resourceClaims: static pods may not reference resourceclaims'],
]);

const containers = [{ name: 'main', image: 'busybox:1' }];

// The types of these files are unions of all their entries, which nothing needs.
const specs: readonly { case: string; spec: object; answer: string }[] = staticPods;
const metadatas: readonly { case: string; metadata: object; answer: string }[] = metadata;

export const answers: readonly Answer[] = [
  ...specs.map(({ case: title, spec, answer }) => ({
    case: title,
    pod: { metadata: { name: 'web' }, spec },
    answer,
    ofManifest: OF_MANIFESTS.get(title),
  })),
  ...metadatas.map(({ case: title, metadata: own, answer }) => ({
    case: title,
    pod: { metadata: { name: 'web', ...own }, spec: { containers } },
    answer,
  })),
];
