/** Follows the pods that a URL lists: asked every so often, the last good answer stands until a better one comes. */
import { isDeepStrictEqual } from 'node:util';
import type { Problem } from '../../pod/problem.ts';
import type { RuntimeClasses } from '../../pod/runtimeClass.ts';
import type { Pod } from '../../pod/schema/pod.ts';
import { messageOf } from '../../volume/fileErrors.ts';
import type { Clock } from '../clock.ts';
import { createAlarm } from './alarm.ts';
import { fetchText } from './fetchText.ts';
import { parseManifestList } from './manifestList.ts';
import { type FileProblem, type ManifestSet, samePod } from './manifestSet.ts';

export interface ManifestUrl {
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** How often it is asked, in milliseconds. */
  readonly everyMs: number;
}

export interface HttpSourceOptions extends ManifestUrl {
  readonly nodeName: string;
  /** Reads the RuntimeClasses that its pods may name; absent: there are none. */
  readonly readClasses?: () => Promise<RuntimeClasses>;
  /** The last good set from before a restart. */
  readonly lastGood: readonly Pod[] | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Called with the full set at first and whenever it, or what is wrong, has changed. */
  readonly onSet: (set: ManifestSet) => void;
  /** Called when it cannot be read and there is no set to stand in; again when there is another reason. */
  readonly onUnread: (problems: readonly FileProblem[]) => void;
  /** Called with each new good set, before it is told. */
  readonly onGood: (pods: readonly Pod[]) => void;
}

/** Asks the URL again and again until the signal aborts. */
export async function watchManifestUrl(options: HttpSourceOptions): Promise<void> {
  const { clock, signal, everyMs } = options;
  const source = new HttpSource(options);
  const alarm = createAlarm(clock, signal);
  while (!signal.aborted) {
    await source.ask();
    await alarm.wait(clock.now() + everyMs);
  }
}

class HttpSource {
  readonly #options: HttpSourceOptions;
  /** The last answer, and the classes that it was read with: the same again says nothing new. */
  #text: string | undefined;
  #classes: RuntimeClasses | undefined;
  #pods: readonly Pod[] | undefined;
  /** What is wrong with the last answer, and with getting one. */
  #invalid: readonly FileProblem[] = [];
  #unreachable: readonly FileProblem[] = [];
  #warnings: readonly FileProblem[] = [];
  #told: string | undefined;

  constructor(options: HttpSourceOptions) {
    this.#options = options;
  }

  async ask(): Promise<void> {
    const { signal } = this.#options;
    try {
      const text = await fetchText(this.#options);
      this.#unreachable = [];
      this.#take(text, await this.#options.readClasses?.());
    } catch (error) {
      this.#unreachable = this.#located([{ path: '', message: messageOf(error) }]);
    }
    if (!signal.aborted) this.#tell();
  }

  #take(text: string, classes: RuntimeClasses = new Map()): void {
    const { url, nodeName, clock, lastGood, onGood } = this.#options;
    // What was admitted stays so whatever becomes of its class; what was refused others may admit.
    const isOther = this.#invalid.length > 0 && !isDeepStrictEqual(classes, this.#classes);
    if (text === this.#text && !isOther) return;
    this.#text = text;
    this.#classes = classes;
    const known = new Map((this.#pods ?? lastGood ?? []).map((pod) => [pod.metadata.uid, pod]));
    const read = parseManifestList(text, { url, nodeName, seenAt: clock.now(), classes, known });
    this.#invalid = this.#located('problems' in read ? read.problems : read.refused);
    if ('problems' in read) return;
    const pods = read.pods.map((pod) => {
      const before = known.get(pod.metadata.uid);
      return before !== undefined && samePod(before, pod) ? before : pod;
    });
    const isNew = pods.length !== known.size || pods.some((pod) => known.get(pod.metadata.uid) !== pod);
    this.#pods = pods;
    this.#warnings = this.#located(read.warnings);
    if (isNew) onGood(pods);
  }

  #tell(): void {
    const { lastGood, onSet, onUnread } = this.#options;
    const problems = [...this.#unreachable, ...this.#invalid];
    if (problems.length > 0) this.#pods ??= lastGood;
    const pods = this.#pods;
    const said = JSON.stringify([pods?.map(({ metadata }) => metadata), problems, this.#text]);
    if (said === this.#told) return;
    this.#told = said;
    if (pods === undefined) onUnread(problems);
    else onSet({ pods, problems, warnings: this.#warnings });
    this.#warnings = [];
  }

  #located(problems: readonly Problem[]): FileProblem[] {
    return problems.map((problem) => ({ file: this.#options.url, ...problem }));
  }
}
