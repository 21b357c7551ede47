/** Runs an exec credential plugin (`plugin/pkg/client/auth/exec` of client-go). Its output is secret and never logged. */
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { printableLine } from '../../base/text/printable.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import { ProgramFailure, runProgram } from '../../host/program.ts';
import type { ExecPluginCall, ExecPluginObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import type { ExecFields } from '../config/files/execFields.ts';
import type { Kubeconfig } from '../config/files/kubeconfig.ts';

export interface ExecCredential {
  readonly token: string | undefined;
  /** Client certificate and key in PEM format. */
  readonly certificatePair: { readonly cert: string; readonly key: string } | undefined;
  /** Expiry of the credentials, in milliseconds since the epoch. Undefined if the plugin does not report it. */
  readonly expiresAt: number | undefined;
}

interface PluginCall {
  readonly exec: ExecFields;
  readonly cluster: Kubeconfig['cluster'];
  readonly errorPrefix: string;
  readonly timeoutMs?: number;
  /** Aborting this signal kills the plugin. */
  readonly signal?: AbortSignal | undefined;
  readonly observer?: Pick<ExecPluginObserver, 'called'> | undefined;
}

/** Default timeout of the plugin in milliseconds. The request that needs the credentials waits for the plugin. */
const RUN_TIMEOUT_MS = 60_000;
const MAX_OUTPUT_BYTES = 1024 * 1024;

const execCredentialSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: z.optional(z.string()),
    clientCertificateData: z.optional(z.string()),
    clientKeyData: z.optional(z.string()),
    expirationTimestamp: z.nullish(z.string()),
  }),
});

/** Runs the plugin and parses its output. Rejects with an error that starts with `errorPrefix`. */
export async function runExecPlugin(call: PluginCall): Promise<ExecCredential> {
  const {
    exec,
    cluster,
    errorPrefix,
    timeoutMs = RUN_TIMEOUT_MS,
    signal = new AbortController().signal,
    observer,
  } = call;
  const environment = {
    ...ownEnvironment(),
    ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(execInfo(exec, cluster)),
  };
  const limits = { signal, timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES, killsChildren: true };
  const options = { ...limits, environment };
  const output = await runProgram(exec.command, exec.args ?? [], options).catch((error) => {
    if (!signal.aborted) observer?.called(toFailedCall(error));
    throw new Error(`${errorPrefix}: ${describeFailure(error, exec)}`, { cause: error });
  });
  observer?.called({ status: 'no_error', code: 0 });
  return parseCredential(output, exec.apiVersion, errorPrefix);
}

const NOT_RUN_EXIT_CODE = 1;
/** The exit code that Go reports for a process that a signal killed (`ProcessState.ExitCode`). */
const KILLED_EXIT_CODE = -1;

function toFailedCall(error: unknown): ExecPluginCall {
  if (!(error instanceof ProgramFailure)) return { status: 'client_internal_error', code: NOT_RUN_EXIT_CODE };
  const { exitCode, hasTimedOut, exceededOutputLimit, cause } = error;
  const couldNotStart = cause !== undefined && !hasTimedOut && !exceededOutputLimit;
  if (couldNotStart) return { status: 'plugin_not_found_error', code: NOT_RUN_EXIT_CODE };
  return { status: 'plugin_execution_error', code: exitCode ?? KILLED_EXIT_CODE };
}

const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** Returns the input of the plugin, an ExecCredential without previous credentials. */
function execInfo({ apiVersion, provideClusterInfo = false }: ExecFields, cluster: Kubeconfig['cluster']): object {
  const {
    extensions: _not,
    'certificate-authority': _file,
    'certificate-authority-data': data,
    ...connection
  } = cluster;
  const clusterInfo = {
    ...connection,
    ...(data ? { 'certificate-authority-data': Buffer.from(data).toString('base64') } : {}),
  };
  return {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(provideClusterInfo ? { cluster: clusterInfo } : {}) },
  };
}

/** Describes the failure without the plugin's output, which may contain credentials. */
function describeFailure(error: unknown, { command, installHint }: ExecFields): string {
  const name = printableLine(command);
  if (!(error instanceof ProgramFailure)) return `${name}: ${messageOf(error)}`;
  const { hasTimedOut, exceededOutputLimit, exitCode, cause } = error;
  if (['ENOENT', 'EACCES'].includes(errorCode(cause) ?? '')) {
    const installHintText = installHint ? `: ${printableLine(installHint)}` : '';
    return `${name} cannot be run: ${errorCode(cause) === 'ENOENT' ? 'no such program' : 'permission denied'}${installHintText}`;
  }
  if (hasTimedOut) return `${name} returned no credentials in time`;
  if (exceededOutputLimit)
    return `${name} returned no credentials: it wrote more than ${MAX_OUTPUT_BYTES / 1024 / 1024} MiB`;
  return `${name} returned no credentials: ${exitCode === undefined ? 'it was killed' : `exit code ${exitCode}`}`;
}

function parseCredential(output: string, apiVersion: string, errorPrefix: string): ExecCredential {
  const parseResult = z.safeParse(execCredentialSchema, parseJson(output));
  if (!parseResult.success) throw new Error(`${errorPrefix}: expected an ExecCredential in JSON, got something else`);
  const { apiVersion: version, status } = parseResult.data;
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (version !== apiVersion)
    throw new Error(`${errorPrefix}: expected an ExecCredential of ${apiVersion}, got one of another version`);
  if (!token && !cert && !key)
    throw new Error(`${errorPrefix}: expected a token or a certificate with its key, got neither`);
  if (!cert !== !key) throw new Error(`${errorPrefix}: expected a certificate with its key, got one without the other`);
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresAt))
    throw new Error(`${errorPrefix}: expirationTimestamp: expected a time, got something else`);
  return { token: token || undefined, certificatePair: cert && key ? { cert, key } : undefined, expiresAt };
}

/** Parses JSON. Returns undefined if the text is not valid JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
