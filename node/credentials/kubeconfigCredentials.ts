import { messageOf } from '../../base/failure.ts';
import { printableLine } from '../../base/printable.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { Secret } from '../../host/secretText.ts';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';
import type { CaReload, CredentialObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { ConfigError } from '../config/configError.ts';
import type { Kubeconfig } from '../config/kubeconfig.ts';
import { parseToken, tokenFileSource } from './bearerToken.ts';
import { CredentialFile } from './credentialFile.ts';
import { ExecCredentials } from './execCredentials.ts';
import { LastGood } from './lastGood.ts';
import { runExecPlugin } from './runExecPlugin.ts';
import { type Pem, type Pems, type TlsContext, tlsContext } from './tlsContext.ts';

export interface CredentialParts {
  /** Clock. `now` returns milliseconds since the epoch, and `monotonic` returns monotonic time. */
  readonly clock: { now(): number; monotonic(): number };
  /** Called once for each problem that does not prevent the node from running. */
  readonly onProblem: (problem: string) => void;
  /** Called when the certificate of an exec plugin has changed. */
  readonly onRenewed?: () => void;
  /** File system for credential files. Defaults to the host's files. */
  readonly files?: FileSystem;
  /** Kills a running exec plugin when it is aborted. */
  readonly signal?: AbortSignal;
  readonly observer?: CredentialObserver | undefined;
}

type Context = Pick<Kubeconfig, 'cluster' | 'user' | 'places'>;
type ReadPem = () => Promise<Pem | undefined>;

/** Provides the credentials of a kubeconfig. Files that it names are read again for each new connection. */
export class KubeconfigCredentials implements CredentialSource {
  readonly #pems: { readonly [Name in keyof Pems]: ReadPem | undefined };
  readonly #hasPlugin: boolean;
  readonly #onCaReload: ((reload: CaReload) => void) | undefined;
  readonly #clock: CredentialParts['clock'];
  readonly #onProblem: (problem: string) => void;
  readonly #good: LastGood<TlsContext>;
  readonly #bearer: Pick<CredentialSource, 'token' | 'handleUnauthorized'>;
  #reading: Promise<TlsContext> | undefined;
  /** The PEM data of the last certificate authorities that could be read. */
  #caText: string | undefined;
  /** The PEM data of the current TLS context, which is reused while the data is unchanged. */
  #pemData = '';
  /** The problems of the current TLS context that have already been reported. */
  #reportedProblems = new Set<string>();

  constructor({ cluster, user, places }: Context, parts: CredentialParts) {
    const { clock, onProblem } = parts;
    this.#clock = clock;
    this.#onProblem = onProblem;
    const { 'certificate-authority-data': caData, 'certificate-authority': ca } = cluster;
    this.#onCaReload = caData ? undefined : parts.observer?.caReloaded;
    this.#good = new LastGood(onProblem);
    const files = new PemFiles(parts.files);
    const pem = (place: string, name: string, data: string | undefined, path: string | undefined) =>
      data ? pemOf(data, `${place}${name}-data`) : path ? files.pemIn(path, `${place}${name}`) : undefined;
    const plugin = createExecPlugin({ cluster, user, places }, parts);
    this.#hasPlugin = plugin !== undefined;
    const pluginPem = (part: 'cert' | 'key') => async () => {
      const text = (await plugin?.current())?.pair?.[part];
      return text === undefined ? undefined : { text, place: `${places.user}exec` };
    };
    this.#pems = {
      ca: pem(places.cluster, 'certificate-authority', caData, ca),
      cert: plugin
        ? pluginPem('cert')
        : pem(places.user, 'client-certificate', user['client-certificate-data'], user['client-certificate']),
      key: plugin ? pluginPem('key') : pem(places.user, 'client-key', user['client-key-data'], user['client-key']),
    };
    this.#bearer = plugin
      ? {
          token: async () => pluginToken((await plugin.current()).token, places.user),
          handleUnauthorized: () => plugin.markRejected(),
        }
      : tokenSource(user, places.user, parts);
  }

  /** Reads all credentials before the first request. Throws a `ConfigError` for the first invalid one. */
  async load(): Promise<void> {
    try {
      // A plugin may depend on the network, for example, which is not ready yet, so it runs only for the first request.
      if (this.#hasPlugin) tlsContext({ ca: await this.#pems.ca?.() });
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
    this.#reportProblems();
    return context;
  }

  /** Returns when the client certificate expires, in milliseconds since the epoch, or undefined if there is none. */
  async certificateExpiry(): Promise<number | undefined> {
    await this.context();
    return this.#good.value?.expiresAt;
  }

  token(): Promise<string | undefined> {
    return this.#bearer.token();
  }

  handleUnauthorized(): void {
    this.#bearer.handleUnauthorized();
    // The server does not tell the client that it has rejected an expired certificate.
    this.#reportProblems();
  }

  #reportProblems(): void {
    for (const problem of this.#good.value?.problems(this.#clock.now()) ?? []) {
      if (!this.#reportedProblems.has(problem)) this.#onProblem(problem);
      this.#reportedProblems.add(problem);
    }
  }

  /** Reads the certificate authorities, and reports each read after the first one. */
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
    const pemData = JSON.stringify([ca?.text, cert?.text, key?.text]);
    if (pemData === this.#pemData && this.#good.value !== undefined) return this.#good.value;
    const context = tlsContext({ ca, cert, key });
    this.#pemData = pemData;
    this.#reportedProblems = new Set();
    return context;
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

const pluginToken = (token: string | undefined, place: string): string | undefined =>
  token === undefined ? undefined : parseToken(token, `${place}exec: token`);

/** Creates the exec plugin. As in client-go, it is used only if the user has no other credentials. */
function createExecPlugin(
  { cluster, user, places }: Context,
  { clock, onProblem, onRenewed = () => {}, signal, observer }: CredentialParts,
) {
  const { exec, token, tokenFile, username } = user;
  const has = [token, tokenFile, username, user['client-certificate'], user['client-certificate-data']];
  if (!exec || has.some(Boolean)) return undefined;
  const runPlugin = () => runExecPlugin({ exec, cluster, place: `${places.user}exec`, signal, observer });
  const report = (problem: string) => (signal?.aborted ? undefined : onProblem(problem));
  return new ExecCredentials({ runPlugin, clock, onProblem: report, onRenewed, observer });
}

/** PEM files by path. A file that is named several times is read only once. */
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

/** Returns the prefix of error messages about a file, as a single printable line. */
const placeOf = (field: string, path: string): string => `${field}: ${printableLine(path)}`;

const pemOf =
  (text: string, place: string): ReadPem =>
  async () => ({ text, place });

/** Returns the token source of a user. As in client-go, a token file takes precedence over an inline token. */
function tokenSource(
  { token, tokenFile }: Kubeconfig['user'],
  place: string,
  { clock, onProblem, files }: CredentialParts,
): Pick<CredentialSource, 'token' | 'handleUnauthorized'> {
  if (tokenFile) {
    const file = new CredentialFile({ path: tokenFile, place: placeOf(`${place}tokenFile`, tokenFile), files });
    return tokenFileSource({ file, good: new LastGood(onProblem), monotonic: () => clock.monotonic() });
  }
  const secret = token ? new Secret(token) : undefined;
  return { token: async () => secret && parseToken(secret.read(), `${place}token`), handleUnauthorized: () => {} };
}
