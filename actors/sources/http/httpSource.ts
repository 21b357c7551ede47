/** Follows the pods that a URL lists: asked every so often, the last good answer stands until a better one comes. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '../../../base/clock.ts';
import { goDuration } from '../../../base/duration.ts';
import { messageOf } from '../../../base/failure.ts';
import { admissionsOf, type RuntimeClasses } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import type { SourceStep } from '../../../machines/node/source.ts';
import type { SourceProblem } from '../../../machines/shared/events.ts';
import { createAlarm } from '../../alarm.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import type { Network } from '../../services/http/network.ts';
import type { ReadManifests } from '../manifest/manifestReader.ts';
import type { ManifestSet } from '../manifest/manifestSet.ts';
import { type Holders, settled } from '../manifest/settledTexts.ts';
import { shortProblem } from '../problemsToTell.ts';
import { EMPTY_TEXT, podsIn, type StandingText, type TextProblem, takenIn, textOf } from '../textDocuments.ts';
import { fetchText } from './fetchText.ts';
import { hideSecrets, splitCredentials, withoutSecrets } from './urlSecrets.ts';

export interface ManifestUrl {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** How often it is asked, in milliseconds. */
  readonly everyMs: number;
}

export interface HttpSourceOptions extends ManifestUrl {
  readonly nodeName: string;
  /** Whether references to objects of an API server are taken as far as a pod can do without them. */
  readonly isLenient?: boolean;
  /** Reads the RuntimeClasses that its pods are admitted by; absent: they are taken as they are. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** The last good set from before a restart. */
  readonly lastGood: readonly Pod[] | undefined;
  /** The objects that pods of that have in use; absent: none. */
  readonly lastObjects?: readonly ConfigObject[] | undefined;
  readonly readManifests: ReadManifests;
  readonly clock: Clock;
  /** Lets whoever else waits for the event loop have a turn. */
  readonly nextTurn: () => Promise<void>;
  readonly network: Pick<Network, 'fetch'>;
  readonly signal: AbortSignal;
  /** Called with the full set at first and whenever it, or what is wrong, has changed, and with what its pods may name. */
  readonly onSet: (set: ManifestSet, objects: readonly LocalObject[]) => void;
  /** Called when it cannot be read and there is no set to stand in; again when there is another reason. */
  readonly onUnread: (problems: readonly SourceProblem[]) => void;
  /** Told after each answer where it has come to. */
  readonly onState: (step: SourceStep) => void;
  /** Called with each new good set, before it is told. */
  readonly onGood: (pods: readonly Pod[]) => void;
}

/** Asks the URL again and again until the signal aborts. */
export async function watchManifestUrl(options: HttpSourceOptions): Promise<void> {
  const { clock, signal, everyMs, onState } = options;
  const source = new HttpSource(options);
  const alarm = createAlarm(clock, signal);
  while (!signal.aborted) {
    await source.ask();
    const until = clock.now() + everyMs;
    if (!signal.aborted) onState(source.state(until));
    await alarm.wait(until);
  }
}

class HttpSource {
  readonly #options: HttpSourceOptions;
  /** The last answer, and the classes that it was read with: the same again says nothing new. */
  #text: string | undefined;
  #classes: RuntimeClasses | undefined;
  #standing: StandingText;
  /** Absent: there is no set yet. */
  #pods: readonly Pod[] | undefined;
  #objects: readonly LocalObject[];
  #holders: Holders = new Map();
  /** What is wrong with the last answer, and with getting one. */
  #invalid: readonly SourceProblem[] = [];
  #unreachable: readonly SourceProblem[] = [];
  #warnings: readonly SourceProblem[] = [];
  /** How many answers were read; what was told last. */
  #answers = 0;
  #told: string | undefined;

  constructor(options: HttpSourceOptions) {
    this.#options = options;
    const { lastGood, lastObjects = [], url } = options;
    this.#standing = lastGood ? textOf(lastGood, lastObjects) : EMPTY_TEXT;
    this.#objects = lastGood ? lastObjects.map((object) => ({ object, file: withoutSecrets(url) })) : [];
  }

  async ask(): Promise<void> {
    const { signal, everyMs } = this.#options;
    try {
      const text = await fetchText(this.#options);
      this.#unreachable = [];
      await this.#take(text, await this.#options.readClasses?.());
    } catch (error) {
      const message = messageOf(error);
      const until = `the server answers: retried every ${goDuration(everyMs)}`;
      this.#unreachable = this.#located([{ path: '', message }], until);
    }
    if (!signal.aborted) this.#tell();
  }

  state(until: number): SourceStep {
    const [problem] = [...this.#unreachable, ...this.#invalid];
    if (problem === undefined) return { state: 'polling' };
    const { path, message } = problem;
    return { state: 'failing', until, failure: path === '' ? message : `${path}: ${message}` };
  }

  async #take(text: string, classes: RuntimeClasses | undefined): Promise<void> {
    const { nodeName, clock, isLenient = false, url, readManifests, nextTurn } = this.#options;
    // What was admitted stays so whatever becomes of its class; what was refused others may admit.
    const isOther = this.#invalid.length > 0 && !isDeepStrictEqual(classes, this.#classes);
    if (text === this.#text && !isOther) return;
    const admitted = admissionsOf(podsIn(this.#standing));
    const origin = { source: 'http', origin: splitCredentials(url).url, nodeName, seenAt: clock.now() } as const;
    const manifests = await readManifests({
      text,
      kind: 'answer',
      origin: { ...origin, ...(classes ? { classes } : {}), admitted, isLenient },
    });
    this.#text = text;
    this.#classes = classes;
    this.#answers += 1;
    this.#settle(await takenIn(this.#standing, manifests, nextTurn));
  }

  /** A set is there once an answer gave one, be it of no pods, or from before a restart. */
  #settle(text: StandingText): void {
    const { lastGood, onGood, url } = this.#options;
    const found = settled(new Map([[withoutSecrets(url), text]]), this.#holders, {
      word: 'response',
      searched: withoutSecrets(url),
    });
    const known = new Set(this.#pods ?? lastGood ?? []);
    const isNew = found.pods.length !== known.size || found.pods.some((pod) => !known.has(pod));
    this.#invalid = this.#located(found.problems);
    this.#warnings = this.#located(found.warnings);
    this.#holders = found.holders;
    for (const each of found.texts.values()) this.#standing = each;
    const isNothing = found.pods.length + found.objects.length === 0;
    if (this.#pods === undefined && isNothing && found.problems.length > 0) return;
    [this.#pods, this.#objects] = [found.pods, found.objects];
    if (isNew) onGood(found.pods);
  }

  #tell(): void {
    const { lastGood, onSet, onUnread } = this.#options;
    const problems = [...this.#unreachable, ...this.#invalid];
    if (problems.length > 0) this.#pods ??= lastGood;
    const pods = this.#pods;
    const said = JSON.stringify([this.#answers, pods === undefined, problems]);
    if (said === this.#told) return;
    this.#told = said;
    if (pods === undefined) onUnread(problems);
    else onSet({ pods, problems, warnings: this.#warnings }, this.#objects);
  }

  #located(problems: readonly (TextProblem & Pick<SourceProblem, 'until'>)[], until?: string): SourceProblem[] {
    const { url, headers } = this.#options;
    const file = withoutSecrets(url);
    // The server may repeat in what it gives what it was asked with.
    const hidden = (text: string) => hideSecrets(text, url, headers);
    return problems.map(({ path, message, pod, until: own = until }) => ({
      file,
      ...shortProblem({ path: hidden(path), message: hidden(message) }),
      ...(pod === undefined ? {} : { pod: hidden(pod) }),
      ...(own === undefined ? {} : { until: own }),
    }));
  }
}
