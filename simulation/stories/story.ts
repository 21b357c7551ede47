/** What happens to a node, as plain data that can be drawn, shrunk, kept and told again. */
import type { EventDelivery } from '../../cri/simulated/events.ts';
import type { Fate } from '../outside.ts';
import type { Manifest } from './manifests.ts';

/** What somebody does to the node, or to what it lives on. */
export type Deed =
  /** Puts a manifest there, or another in its place. */
  | { readonly kind: 'apply'; readonly pod: Manifest }
  | { readonly kind: 'remove'; readonly pod: string }
  /** Writes something into the directory of manifests that is none. */
  | { readonly kind: 'scribble'; readonly file: string; readonly text: string }
  /** Ends the process of a container that runs, the nth of all. */
  | { readonly kind: 'exit'; readonly which: number; readonly exitCode: number; readonly reason?: string }
  | { readonly kind: 'killSandbox' | 'removeSandbox'; readonly which: number }
  | { readonly kind: 'killAgent'; readonly downMs: number }
  | { readonly kind: 'runtimeDown'; readonly downMs: number; readonly keepContainers: boolean }
  | { readonly kind: 'events'; readonly delivery: EventDelivery; readonly forMs: number }
  | { readonly kind: 'jump'; readonly ms: number }
  | { readonly kind: 'powerCut'; readonly downMs: number };

export interface Moment {
  /** Milliseconds after the beginning. */
  readonly at: number;
  readonly deed: Deed;
}

/** A fault that a call meets, by its number among all calls. */
export interface Fault {
  readonly call: number;
  readonly fate: Fate;
}

export interface Story {
  /** Decides the order in which calls are answered, and whatever else the story leaves open. */
  readonly seed: number;
  readonly moments: readonly Moment[];
  readonly faults: readonly Fault[];
  /** How long it goes on before faults end, in milliseconds. */
  readonly lastsMs: number;
}
