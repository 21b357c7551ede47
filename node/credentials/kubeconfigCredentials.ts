/** The credentials of a kubeconfig: those that stand in it, and the files that it names, which may be others later. */

import { messageOf } from '../../base/failure.ts';
import { printableLine } from '../../base/printable.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { Secret } from '../../host/secretText.ts';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';
import type { CaReload, CredentialObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { ConfigError } from '../config/configError.ts';
import type { Kubeconfig } from '../config/kubeconfig.ts';
import { tokenIn, tokenOfFile } from './bearerToken.ts';
import { CredentialFile } from './credentialFile.ts';
import { ExecCredentials } from './execCredentials.ts';
import { askProgram } from './execProgram.ts';
import { LastGood } from './lastGood.ts';
import { type Pem, type Pems, type TlsContext, tlsContext } from './tlsContext.ts';

export interface CredentialParts {
  /** `now` in milliseconds since the epoch; `monotonic` is set by nobody. */
  readonly clock: { now(): number; monotonic(): number };
  /** Told once of each thing that is wrong while the node goes on. */
  readonly onProblem: (problem: string) => void;
  /** The certificate that a program has given is another now. */
  readonly onRenewed?: () => void;
  /** Absent: the host's own. */
  readonly files?: FileSystem;
  /** Nobody asks any more: a program that still runs is ended. */
  readonly signal?: AbortSignal;
  readonly observer?: CredentialObserver | undefined;
}

type Found = Pick<Kubeconfig, 'cluster' | 'user' | 'places'>;
type ReadPem = () => Promise<Pem | undefined>;

export class KubeconfigCredentials implements CredentialSource {
  readonly #pems: { readonly [Name in keyof Pems]: ReadPem | undefined };
  readonly #hasProgram: boolean;
  readonly #onCaReload: ((reload: CaReload) => void) | undefined;
  readonly #clock: CredentialParts['clock'];
  readonly #onProblem: (problem: string) => void;
  readonly #good: LastGood<TlsContext>;
  readonly #bearer: Pick<CredentialSource, 'token' | 'handleUnauthorized'>;
  #reading: Promise<TlsContext> | undefined;
  /** The certificate authorities of the last context that was created from readable ones. */
  #caText: string | undefined;
  /** What the last context was made of: as long as that is the same, so is the context. */
  #texts = '';
  /** What was told of that one. */
  #doubts = new Set<string>();

  constructor({ cluster, user, places }: Found, parts: CredentialParts) {
    const { clock, onProblem } = parts;
    this.#clock = clock;
    this.#onProblem = onProblem;
    const { 'certificate-authority-data': caData, 'certificate-authority': ca } = cluster;
    this.#onCaReload = caData ? undefined : parts.observer?.caReloaded;
    this.#good = new LastGood(onProblem);
    const files = new PemFiles(parts.files);
    const pem = (place: string, name: string, data: string | undefined, path: string | undefined) =>
      data ? pemOf(data, `${place}${name}-data`) : path ? files.pemIn(path, `${place}${name}`) : undefined;
    const program = programOf({ cluster, user, places }, parts);
    this.#hasProgram = program !== undefined;
    const given = (part: 'cert' | 'key') => async () => {
      const text = (await program?.current())?.pair?.[part];
      return text === undefined ? undefined : { text, place: `${places.user}exec` };
    };
    this.#pems = {
      ca: pem(places.cluster, 'certificate-authority', caData, ca),
      cert: program
        ? given('cert')
        : pem(places.user, 'client-certificate', user['client-certificate-data'], user['client-certificate']),
      key: program ? given('key') : pem(places.user, 'client-key', user['client-key-data'], user['client-key']),
    };
    this.#bearer = program
      ? {
          token: async () => tokenGiven((await program.current()).token, places.user),
          handleUnauthorized: () => program.refused(),
        }
      : bearerOf(user, places.user, parts);
  }

  /** Reads all of it, before anything is asked; throws a `ConfigError` with the first that is wrong. */
  async load(): Promise<void> {
    try {
      // A program may depend on what is not there yet, as the network: it is run for the first request.
      if (this.#hasProgram) tlsContext({ ca: await this.#pems.ca?.() });
      else await Promise.all([this.context(), this.token()]);
    } catch (cause) {
      throw new ConfigError(messageOf(cause), { cause });
    }
  }

  async context() {
    this.#reading ??= this.#good
      .read(() => this.#read())
      .finally(() => {
        this.#reading = undefined;
      });
    const { context } = await this.#reading;
    this.#doubt();
    return context;
  }

  /** Until when the certificate that it shows is good, in milliseconds since the epoch; undefined: it shows none. */
  async certificateEnd(): Promise<number | undefined> {
    await this.context();
    return this.#good.value?.end;
  }

  token(): Promise<string | undefined> {
    return this.#bearer.token();
  }

  handleUnauthorized(): void {
    this.#bearer.handleUnauthorized();
    // A certificate that has expired is refused without another word.
    this.#doubt();
  }

  #doubt(): void {
    for (const doubt of this.#good.value?.doubts(this.#clock.now()) ?? []) {
      if (!this.#doubts.has(doubt)) this.#onProblem(doubt);
      this.#doubts.add(doubt);
    }
  }

  /** Reads the certificate authorities, and reports each time after the first that they were read from their file. */
  async #readCa(): Promise<Pem | undefined> {
    const before = this.#caText;
    const report = before === undefined ? undefined : this.#onCaReload;
    const pem = await this.#pems.ca?.().catch((error: unknown) => {
      report?.({ result: 'failure', reason: 'read_error' });
      throw error;
    });
    if (pem === undefined) return undefined;
    if (before === undefined) this.#caText = pem.text;
    else if (report !== undefined) {
      const reload = reloadOf(pem, before);
      if (reload.result === 'success') this.#caText = pem.text;
      report(reload);
    }
    return pem;
  }

  async #read(): Promise<TlsContext> {
    const [ca, cert, key] = await Promise.all([this.#readCa(), this.#pems.cert?.(), this.#pems.key?.()]);
    const texts = JSON.stringify([ca?.text, cert?.text, key?.text]);
    if (texts === this.#texts && this.#good.value !== undefined) return this.#good.value;
    const made = tlsContext({ ca, cert, key });
    this.#texts = texts;
    this.#doubts = new Set();
    return made;
  }
}

function reloadOf({ text, place }: Pem, before: string): CaReload {
  if (text === before) return { result: 'success', reason: 'unchanged' };
  if (text === '') return { result: 'failure', reason: 'empty' };
  try {
    tlsContext({ ca: { text, place } });
    return { result: 'success', reason: 'updated' };
  } catch {
    return { result: 'failure', reason: 'ca_parse_error' };
  }
}

const tokenGiven = (token: string | undefined, place: string): string | undefined =>
  token === undefined ? undefined : tokenIn(token, `${place}exec: token`);

/** As with client-go it is asked where nothing else says who asks. */
function programOf(
  { cluster, user, places }: Found,
  { clock, onProblem, onRenewed = () => {}, signal, observer }: CredentialParts,
) {
  const { exec, token, tokenFile, username } = user;
  const has = [token, tokenFile, username, user['client-certificate'], user['client-certificate-data']];
  if (!exec || has.some(Boolean)) return undefined;
  const ask = () => askProgram({ exec, cluster, place: `${places.user}exec`, signal, observer });
  const tell = (problem: string) => (signal?.aborted ? undefined : onProblem(problem));
  return new ExecCredentials({ ask, clock, onProblem: tell, onRenewed, observer });
}

/** One file may be named more than once: it is read once for all. */
class PemFiles {
  readonly #disk: FileSystem | undefined;
  readonly #files = new Map<string, CredentialFile>();

  constructor(disk: FileSystem | undefined) {
    this.#disk = disk;
  }

  pemIn(path: string, field: string): ReadPem {
    const place = placeOf(field, path);
    const file = this.#files.get(path) ?? new CredentialFile({ path, place, files: this.#disk });
    this.#files.set(path, file);
    return async () => ({ text: await file.read(), place });
  }
}

/** Any character may stand in a path; what is said of it is one line. */
const placeOf = (field: string, path: string): string => `${field}: ${printableLine(path)}`;

const pemOf =
  (text: string, place: string): ReadPem =>
  async () => ({ text, place });

/** A file wins over what stands in the kubeconfig, as in client-go. */
function bearerOf(
  { token, tokenFile }: Kubeconfig['user'],
  place: string,
  { clock, onProblem, files }: CredentialParts,
): Pick<CredentialSource, 'token' | 'handleUnauthorized'> {
  if (tokenFile) {
    const file = new CredentialFile({ path: tokenFile, place: placeOf(`${place}tokenFile`, tokenFile), files });
    return tokenOfFile({ file, good: new LastGood(onProblem), monotonic: () => clock.monotonic() });
  }
  const secret = token ? new Secret(token) : undefined;
  return { token: async () => secret && tokenIn(secret.read(), `${place}token`), handleUnauthorized: () => {} };
}
