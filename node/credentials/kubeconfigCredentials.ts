import { messageOf } from '../../base/failure.ts';
import { printableLine } from '../../base/text/printable.ts';
import type { FileSystem } from '../../host/files/fileSystem.ts';
import { Secret } from '../../host/secret.ts';
import type { CredentialSource } from '../../kubeclient/endpoint.ts';
import type { CaReload, CredentialObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import { ConfigError } from '../config/configError.ts';
import type { Kubeconfig } from '../config/files/kubeconfig.ts';
import { parseToken, tokenFileSource } from './bearerToken.ts';
import { CredentialFile } from './credentialFile.ts';
import { ExecCredentials } from './execCredentials.ts';
import { LastGood } from './lastGood.ts';
import { runExecPlugin } from './runExecPlugin.ts';
import { type Pem, type PemInputs, type TlsContext, tlsContext } from './tlsContext.ts';

export interface CredentialDependencies {
  /** Clock. `now` returns milliseconds since the epoch, and `monotonic` returns monotonic time. */
  readonly clock: { now(): number; monotonic(): number };
  /** Called once for each problem that does not prevent the node from running. */
  readonly onProblem: (problem: string) => void;
  /** Called when the certificate of an exec plugin has changed. */
  readonly onRenewed?: () => void;
  /** File system for credential files. Defaults to the host's files. */
  readonly files?: FileSystem;
  /** Aborting this signal kills a running exec plugin. */
  readonly signal?: AbortSignal;
  readonly observer?: CredentialObserver | undefined;
}

type CredentialContext = Pick<Kubeconfig, 'cluster' | 'user' | 'errorPrefixes'>;
type ReadPem = () => Promise<Pem | undefined>;

/** Provides the credentials of a kubeconfig. The files that the kubeconfig names are reread for each new connection. */
export class KubeconfigCredentials implements CredentialSource {
  readonly #pemReaders: { readonly [Name in keyof PemInputs]: ReadPem | undefined };
  readonly #hasPlugin: boolean;
  readonly #onCaReload: ((reload: CaReload) => void) | undefined;
  readonly #clock: CredentialDependencies['clock'];
  readonly #onProblem: (problem: string) => void;
  readonly #lastGoodContext: LastGood<TlsContext>;
  readonly #bearerSource: Pick<CredentialSource, 'token' | 'handleUnauthorized'>;
  #pendingRead: Promise<TlsContext> | undefined;
  /** PEM data of the last successful read of the certificate authorities. */
  #caPem: string | undefined;
  /** PEM data from which the current TLS context was created. The context is reused while this data is unchanged. */
  #pemData = '';
  /** The problems of the current TLS context that have already been reported. */
  #reportedProblems = new Set<string>();

  constructor({ cluster, user, errorPrefixes }: CredentialContext, dependencies: CredentialDependencies) {
    const { clock, onProblem } = dependencies;
    this.#clock = clock;
    this.#onProblem = onProblem;
    const { 'certificate-authority-data': caData, 'certificate-authority': ca } = cluster;
    this.#onCaReload = caData ? undefined : dependencies.observer?.caReloaded;
    this.#lastGoodContext = new LastGood(onProblem);
    const files = new PemFiles(dependencies.files);
    const pem = (place: string, name: string, data: string | undefined, path: string | undefined) =>
      data
        ? createPemReader(data, `${place}${name}-data`)
        : path
          ? files.createReader(path, `${place}${name}`)
          : undefined;
    const execPlugin = createExecPlugin({ cluster, user, errorPrefixes }, dependencies);
    this.#hasPlugin = execPlugin !== undefined;
    const createPluginPemReader = (part: 'cert' | 'key') => async () => {
      const pemText = (await execPlugin?.current())?.certificatePair?.[part];
      return pemText === undefined ? undefined : { text: pemText, errorPrefix: `${errorPrefixes.user}exec` };
    };
    this.#pemReaders = {
      ca: pem(errorPrefixes.cluster, 'certificate-authority', caData, ca),
      cert: execPlugin
        ? createPluginPemReader('cert')
        : pem(errorPrefixes.user, 'client-certificate', user['client-certificate-data'], user['client-certificate']),
      key: execPlugin
        ? createPluginPemReader('key')
        : pem(errorPrefixes.user, 'client-key', user['client-key-data'], user['client-key']),
    };
    this.#bearerSource = execPlugin
      ? {
          token: async () => parsePluginToken((await execPlugin.current()).token, errorPrefixes.user),
          handleUnauthorized: () => execPlugin.markRejected(),
        }
      : tokenSource(user, errorPrefixes.user, dependencies);
  }

  /** Reads all credentials before the first request. Throws a `ConfigError` for the first invalid one. */
  async load(): Promise<void> {
    try {
      // Do not run the plugin before the first request, because it may depend on something that is not ready yet, e.g.
      // the network.
      if (this.#hasPlugin) tlsContext({ ca: await this.#pemReaders.ca?.() });
      else await Promise.all([this.context(), this.token()]);
    } catch (cause) {
      throw new ConfigError(messageOf(cause), { cause });
    }
  }

  async context() {
    this.#pendingRead ??= this.#lastGoodContext
      .read(() => this.#readContext())
      .finally(() => {
        this.#pendingRead = undefined;
      });
    const { secureContext } = await this.#pendingRead;
    this.#reportProblems();
    return secureContext;
  }

  /** Returns the expiry of the client certificate, in milliseconds since the epoch, or undefined if there is none. */
  async certificateExpiry(): Promise<number | undefined> {
    await this.context();
    return this.#lastGoodContext.value?.expiresAt;
  }

  token(): Promise<string | undefined> {
    return this.#bearerSource.token();
  }

  handleUnauthorized(): void {
    this.#bearerSource.handleUnauthorized();
    // Report certificate problems here, because the server's response does not mention an expired certificate.
    this.#reportProblems();
  }

  #reportProblems(): void {
    for (const problem of this.#lastGoodContext.value?.problems(this.#clock.now()) ?? []) {
      if (!this.#reportedProblems.has(problem)) this.#onProblem(problem);
      this.#reportedProblems.add(problem);
    }
  }

  /**
   * Reads the certificate authorities. After the first successful read, the result of every further read is reported,
   * whether it succeeds or fails.
   */
  async #readCa(): Promise<Pem | undefined> {
    const previousPem = this.#caPem;
    const reportReload = previousPem === undefined ? undefined : this.#onCaReload;
    const pem = await this.#pemReaders.ca?.().catch((error: unknown) => {
      reportReload?.({ result: 'failure', reason: 'read_error' });
      throw error;
    });
    if (pem === undefined) return undefined;
    if (previousPem === undefined) this.#caPem = pem.text;
    else if (reportReload !== undefined) {
      const caReload = toCaReload(pem, previousPem);
      if (caReload.result === 'success') this.#caPem = pem.text;
      reportReload(caReload);
    }
    return pem;
  }

  async #readContext(): Promise<TlsContext> {
    const [ca, cert, key] = await Promise.all([this.#readCa(), this.#pemReaders.cert?.(), this.#pemReaders.key?.()]);
    const pemData = JSON.stringify([ca?.text, cert?.text, key?.text]);
    if (pemData === this.#pemData && this.#lastGoodContext.value !== undefined) return this.#lastGoodContext.value;
    const newContext = tlsContext({ ca, cert, key });
    this.#pemData = pemData;
    this.#reportedProblems = new Set();
    return newContext;
  }
}

function toCaReload({ text: pemText, errorPrefix }: Pem, previousPem: string): CaReload {
  if (pemText === previousPem) return { result: 'success', reason: 'unchanged' };
  if (pemText === '') return { result: 'failure', reason: 'empty' };
  try {
    tlsContext({ ca: { text: pemText, errorPrefix } });
    return { result: 'success', reason: 'updated' };
  } catch {
    return { result: 'failure', reason: 'ca_parse_error' };
  }
}

const parsePluginToken = (token: string | undefined, errorPrefix: string): string | undefined =>
  token === undefined ? undefined : parseToken(token, `${errorPrefix}exec: token`);

/** Creates the exec plugin. As in client-go, it is used only if the user has no other credentials. */
function createExecPlugin(
  { cluster, user, errorPrefixes }: CredentialContext,
  { clock, onProblem, onRenewed = () => {}, signal, observer }: CredentialDependencies,
) {
  const { exec, token, tokenFile, username } = user;
  const has = [token, tokenFile, username, user['client-certificate'], user['client-certificate-data']];
  if (!exec || has.some(Boolean)) return undefined;
  const runPlugin = () => runExecPlugin({ exec, cluster, errorPrefix: `${errorPrefixes.user}exec`, signal, observer });
  const reportProblem = (problem: string) => (signal?.aborted ? undefined : onProblem(problem));
  return new ExecCredentials({ runPlugin, clock, onProblem: reportProblem, onRenewed, observer });
}

/** PEM files by path. A file that is named several times is read only once. */
class PemFiles {
  readonly #fileSystem: FileSystem | undefined;
  readonly #files = new Map<string, CredentialFile>();

  constructor(fileSystem: FileSystem | undefined) {
    this.#fileSystem = fileSystem;
  }

  createReader(path: string, field: string): ReadPem {
    const errorPrefix = formatErrorPrefix(field, path);
    const file = this.#files.get(path) ?? new CredentialFile({ path, errorPrefix, files: this.#fileSystem });
    this.#files.set(path, file);
    return async () => ({ text: await file.read(), errorPrefix });
  }
}

/** Returns the prefix of error messages about a file, as a single printable line. */
const formatErrorPrefix = (field: string, path: string): string => `${field}: ${printableLine(path)}`;

const createPemReader =
  (pemText: string, errorPrefix: string): ReadPem =>
  async () => ({ text: pemText, errorPrefix });

/** Returns the token source of a user. As in client-go, a token file takes precedence over an inline token. */
function tokenSource(
  { token, tokenFile }: Kubeconfig['user'],
  errorPrefix: string,
  { clock, onProblem, files }: CredentialDependencies,
): Pick<CredentialSource, 'token' | 'handleUnauthorized'> {
  if (tokenFile) {
    const file = new CredentialFile({
      path: tokenFile,
      errorPrefix: formatErrorPrefix(`${errorPrefix}tokenFile`, tokenFile),
      files,
    });
    return tokenFileSource({ file, lastGoodToken: new LastGood(onProblem), monotonic: () => clock.monotonic() });
  }
  const tokenSecret = token ? new Secret(token) : undefined;
  return {
    token: async () => tokenSecret && parseToken(tokenSecret.read(), `${errorPrefix}token`),
    handleUnauthorized: () => {},
  };
}
