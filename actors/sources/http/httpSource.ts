/** Polls the pods listed at a URL. The last valid response is used until the next valid one arrives. */
import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../base/failure.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { goDuration } from '../../../base/time/duration.ts';
import { collectAdmittedPods, type RuntimeClasses } from '../../../kubernetes/api/runtimeClass.ts';
import type { Pod } from '../../../kubernetes/api/schema/pod.ts';
import type { ConfigObject } from '../../../kubernetes/objects/configObject.ts';
import type { SourceChange } from '../../../machines/node/pods/source.ts';
import type { SourceProblem } from '../../../machines/shared/events/events.ts';
import { createAlarm } from '../../alarm.ts';
import type { LocalObject } from '../../objects/cache/persistedSourceObjects.ts';
import type { Network } from '../../services/http/network.ts';
import { shortProblem } from '../limitProblems.ts';
import type { ReadManifests } from '../manifest/manifestReader.ts';
import type { ManifestSet } from '../manifest/manifestSet.ts';
import { type DocumentHolders, resolveTexts } from '../manifest/resolveTexts.ts';
import {
  createRestoredText,
  EMPTY_PARSED_TEXT,
  listPods,
  type ParsedText,
  type TextProblem,
  updateText,
} from '../textDocuments.ts';
import { fetchText } from './fetchText.ts';
import { hideSecrets, splitCredentials, withoutSecrets } from './urlSecrets.ts';

export interface ManifestUrl {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** Polling interval in milliseconds. */
  readonly everyMs: number;
}

export interface HttpSourceOptions extends ManifestUrl {
  readonly nodeName: string;
  /** Whether references to objects of an API server are accepted if the pod can run without them. */
  readonly isLenient?: boolean;
  /** Reads the RuntimeClasses for admission. If undefined, pods are not checked against classes. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** The last valid set of pods from before a restart of the agent. */
  readonly lastGoodPods: readonly Pod[] | undefined;
  /** The objects that the pods in `lastGoodPods` use. */
  readonly lastObjects?: readonly ConfigObject[] | undefined;
  readonly readManifests: ReadManifests;
  readonly clock: Clock;
  /** Yields to other tasks of the event loop. */
  readonly nextTurn: () => Promise<void>;
  readonly network: Pick<Network, 'fetch'>;
  readonly signal: AbortSignal;
  /**
   * Called with the full set of pods and with the objects for them, initially and after every change of the pods, the
   * objects or the problems.
   */
  readonly onSet: (set: ManifestSet, objects: readonly LocalObject[]) => void;
  /**
   * Called when the URL cannot be read and no pods have been received from it yet, and again when the reason changes.
   */
  readonly onUnreadable: (problems: readonly SourceProblem[]) => void;
  /** Called after each poll with the resulting state. */
  readonly onState: (step: SourceChange) => void;
  /** Called with each new valid set of pods before it is published. */
  readonly onGoodPods: (pods: readonly Pod[]) => void;
}

/** Polls the URL until the signal aborts. */
export async function watchManifestUrl(options: HttpSourceOptions): Promise<void> {
  const { clock, signal, everyMs, onState } = options;
  const source = new HttpSource(options);
  const alarm = createAlarm(clock, signal);
  while (!signal.aborted) {
    await source.poll();
    const nextFetchAt = clock.now() + everyMs;
    if (!signal.aborted) onState(source.state(nextFetchAt));
    await alarm.waitUntil(nextFetchAt);
  }
}

class HttpSource {
  readonly #options: HttpSourceOptions;
  /** The last parsed response. An identical response is not parsed again. */
  #lastResponse: string | undefined;
  /** The RuntimeClasses that were used to parse the last response. */
  #classes: RuntimeClasses | undefined;
  #parsedText: ParsedText;
  /** The current pods. Undefined until the pods of a valid response or of an earlier agent are in use. */
  #pods: readonly Pod[] | undefined;
  #objects: readonly LocalObject[];
  #documentHolders: DocumentHolders = new Map();
  /** Problems in the last response. */
  #responseProblems: readonly SourceProblem[] = [];
  /** The reason why the last request failed. Empty if it succeeded. */
  #requestProblems: readonly SourceProblem[] = [];
  #warnings: readonly SourceProblem[] = [];
  /** The number of responses that were parsed. */
  #responseCount = 0;
  /** Identifies the last published set of pods and problems, so that an unchanged set is not published again. */
  #publishedSummary: string | undefined;

  constructor(options: HttpSourceOptions) {
    this.#options = options;
    const { lastGoodPods, lastObjects = [], url } = options;
    this.#parsedText = lastGoodPods ? createRestoredText(lastGoodPods, lastObjects) : EMPTY_PARSED_TEXT;
    this.#objects = lastGoodPods ? lastObjects.map((object) => ({ object, file: withoutSecrets(url) })) : [];
  }

  async poll(): Promise<void> {
    const { signal, everyMs } = this.#options;
    try {
      const responseText = await fetchText(this.#options);
      this.#requestProblems = [];
      await this.#update(responseText, await this.#options.readClasses?.());
    } catch (error) {
      const message = messageOf(error);
      const retryCondition = `the server answers: retried every ${goDuration(everyMs)}`;
      this.#requestProblems = this.#locateProblems([{ path: '', message }], retryCondition);
    }
    if (!signal.aborted) this.#publish();
  }

  state(until: number): SourceChange {
    const [problem] = [...this.#requestProblems, ...this.#responseProblems];
    if (problem === undefined) return { state: 'polling' };
    const { path, message } = problem;
    return { state: 'failing', until, failure: path === '' ? message : `${path}: ${message}` };
  }

  async #update(text: string, classes: RuntimeClasses | undefined): Promise<void> {
    const { nodeName, clock, isLenient = false, url, readManifests, nextTurn } = this.#options;
    // Parse an unchanged response again only if it has problems, because changed RuntimeClasses may admit a rejected
    // pod but never reject an admitted one.
    const mustReparse = this.#responseProblems.length > 0 && !isDeepStrictEqual(classes, this.#classes);
    if (text === this.#lastResponse && !mustReparse) return;
    const admittedPods = collectAdmittedPods(listPods(this.#parsedText));
    const origin = { source: 'http', origin: splitCredentials(url).url, nodeName, firstSeenAt: clock.now() } as const;
    const manifests = await readManifests({
      text,
      kind: 'response',
      origin: { ...origin, ...(classes ? { classes } : {}), admittedPods, isLenient },
    });
    this.#lastResponse = text;
    this.#classes = classes;
    this.#responseCount += 1;
    this.#resolve(await updateText(this.#parsedText, manifests, nextTurn));
  }

  /**
   * Updates the pods and objects from a parsed response. Before the first valid response, a response is ignored as
   * invalid if it has problems and contains neither usable pods nor usable objects.
   */
  #resolve(text: ParsedText): void {
    const { lastGoodPods, onGoodPods, url } = this.#options;
    const resolvedTexts = resolveTexts(new Map([[withoutSecrets(url), text]]), this.#documentHolders, {
      textNoun: 'response',
      searchedLocation: withoutSecrets(url),
    });
    const previousPods = new Set(this.#pods ?? lastGoodPods ?? []);
    const hasNewPods =
      resolvedTexts.pods.length !== previousPods.size || resolvedTexts.pods.some((pod) => !previousPods.has(pod));
    this.#responseProblems = this.#locateProblems(resolvedTexts.problems);
    this.#warnings = this.#locateProblems(resolvedTexts.warnings);
    this.#documentHolders = resolvedTexts.documentHolders;
    for (const text of resolvedTexts.updatedTexts.values()) this.#parsedText = text;
    const isResponseEmpty = resolvedTexts.pods.length + resolvedTexts.objects.length === 0;
    if (this.#pods === undefined && isResponseEmpty && resolvedTexts.problems.length > 0) return;
    [this.#pods, this.#objects] = [resolvedTexts.pods, resolvedTexts.objects];
    if (hasNewPods) onGoodPods(resolvedTexts.pods);
  }

  #publish(): void {
    const { lastGoodPods, onSet, onUnreadable } = this.#options;
    const problems = [...this.#requestProblems, ...this.#responseProblems];
    if (problems.length > 0) this.#pods ??= lastGoodPods;
    const pods = this.#pods;
    const setSummary = JSON.stringify([this.#responseCount, pods === undefined, problems]);
    if (setSummary === this.#publishedSummary) return;
    this.#publishedSummary = setSummary;
    if (pods === undefined) onUnreadable(problems);
    else onSet({ pods, problems, warnings: this.#warnings }, this.#objects);
  }

  #locateProblems(problems: readonly (TextProblem & Pick<SourceProblem, 'until'>)[], until?: string): SourceProblem[] {
    const { url, headers } = this.#options;
    const file = withoutSecrets(url);
    // Hides the secrets of the request, because the server may echo them in its response.
    const redact = (text: string) => hideSecrets(text, url, headers);
    return problems.map(({ path, message, pod, until: problemUntil = until }) => ({
      file,
      ...shortProblem({ path: redact(path), message: redact(message) }),
      ...(pod === undefined ? {} : { pod: redact(pod) }),
      ...(problemUntil === undefined ? {} : { until: problemUntil }),
    }));
  }
}
