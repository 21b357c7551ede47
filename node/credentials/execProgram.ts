/** Asks a program for credentials (`plugin/pkg/client/auth/exec` of client-go). What it says is secret, and told to nobody. */
import * as z from 'zod/mini';
import { messageOf } from '../../base/failure.ts';
import { printableLine } from '../../base/printable.ts';
import { errorCode } from '../../host/files/fileErrors.ts';
import { ProgramFailure, runProgram } from '../../host/program.ts';
import type { ExecPluginCall, ExecPluginObserver } from '../../kubelet-api/metrics/requests/credentialMetrics.ts';
import type { ExecFields } from '../config/execFields.ts';
import type { Kubeconfig } from '../config/kubeconfig.ts';

/** What a program has given. */
export interface ExecCredential {
  readonly token: string | undefined;
  /** Both in PEM. */
  readonly pair: { readonly cert: string; readonly key: string } | undefined;
  /** In milliseconds since the epoch; undefined: nobody says. */
  readonly expiresAt: number | undefined;
}

interface Asked {
  readonly exec: ExecFields;
  readonly cluster: Kubeconfig['cluster'];
  /** How it is called where something is wrong with it. */
  readonly place: string;
  readonly limitMs?: number;
  /** Ends the program; absent: only its own end, or the limit, does. */
  readonly signal?: AbortSignal | undefined;
  readonly observer?: Pick<ExecPluginObserver, 'called'> | undefined;
}

/** So long it may take; a request waits for it. */
const LONGEST_RUN_MS = 60_000;
const LARGEST_OUTPUT = 1024 * 1024;

const answerSchema = z.object({
  apiVersion: z.string(),
  kind: z.literal('ExecCredential'),
  status: z.object({
    token: z.optional(z.string()),
    clientCertificateData: z.optional(z.string()),
    clientKeyData: z.optional(z.string()),
    expirationTimestamp: z.nullish(z.string()),
  }),
});

/** Rejects with what is wrong, after its place. */
export async function askProgram(asked: Asked): Promise<ExecCredential> {
  const { exec, cluster, place, limitMs = LONGEST_RUN_MS, signal = new AbortController().signal, observer } = asked;
  const environment = {
    ...ownEnvironment(),
    ...Object.fromEntries((exec.env ?? []).map(({ name, value }) => [name, value])),
    KUBERNETES_EXEC_INFO: JSON.stringify(infoOf(exec, cluster)),
  };
  const limits = { signal, timeoutMs: limitMs, maxOutputBytes: LARGEST_OUTPUT, killsChildren: true };
  const options = { ...limits, environment };
  const output = await runProgram(exec.command, exec.args ?? [], options).catch((error) => {
    if (!signal.aborted) observer?.called(failedCall(error));
    throw new Error(`${place}: ${whyNot(error, exec)}`, { cause: error });
  });
  observer?.called({ status: 'no_error', code: 0 });
  return read(output, exec.apiVersion, place);
}

const NOT_RUN = 1;
/** The exit code that Go reports for a process that a signal killed (`ProcessState.ExitCode`). */
const KILLED = -1;

function failedCall(error: unknown): ExecPluginCall {
  if (!(error instanceof ProgramFailure)) return { status: 'client_internal_error', code: NOT_RUN };
  const { exitCode, hasTimedOut, exceededOutput, cause } = error;
  const couldNotStart = cause !== undefined && !hasTimedOut && !exceededOutput;
  if (couldNotStart) return { status: 'plugin_not_found_error', code: NOT_RUN };
  return { status: 'plugin_execution_error', code: exitCode ?? KILLED };
}

const ownEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** What the program is told: nothing of what it has said before. */
function infoOf({ apiVersion, provideClusterInfo = false }: ExecFields, cluster: Kubeconfig['cluster']): object {
  const { extensions: _not, 'certificate-authority': _file, 'certificate-authority-data': data, ...reached } = cluster;
  const told = { ...reached, ...(data ? { 'certificate-authority-data': Buffer.from(data).toString('base64') } : {}) };
  return {
    apiVersion,
    kind: 'ExecCredential',
    spec: { interactive: false, ...(provideClusterInfo ? { cluster: told } : {}) },
  };
}

/** Not what it wrote: a program that fails may tell what it tried. */
function whyNot(error: unknown, { command, installHint }: ExecFields): string {
  const name = printableLine(command);
  if (!(error instanceof ProgramFailure)) return `${name}: ${messageOf(error)}`;
  const { hasTimedOut, exceededOutput, exitCode, cause } = error;
  if (['ENOENT', 'EACCES'].includes(errorCode(cause) ?? '')) {
    const hint = installHint ? `: ${printableLine(installHint)}` : '';
    return `${name} cannot be run: ${errorCode(cause) === 'ENOENT' ? 'no such program' : 'permission denied'}${hint}`;
  }
  if (hasTimedOut) return `${name} gave no credentials in time`;
  if (exceededOutput) return `${name} gave no credentials: it wrote more than ${LARGEST_OUTPUT / 1024 / 1024} MiB`;
  return `${name} gave no credentials: ${exitCode === undefined ? 'it was killed' : `exit code ${exitCode}`}`;
}

function read(output: string, apiVersion: string, place: string): ExecCredential {
  const found = z.safeParse(answerSchema, jsonOr(output));
  if (!found.success) throw new Error(`${place}: expected an ExecCredential in JSON, got something else`);
  const { apiVersion: version, status } = found.data;
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (version !== apiVersion)
    throw new Error(`${place}: expected an ExecCredential of ${apiVersion}, got one of another version`);
  if (!token && !cert && !key) throw new Error(`${place}: expected a token or a certificate with its key, got neither`);
  if (!cert !== !key) throw new Error(`${place}: expected a certificate with its key, got one without the other`);
  const expiresAt = expirationTimestamp ? Date.parse(expirationTimestamp) : undefined;
  if (Number.isNaN(expiresAt)) throw new Error(`${place}: expirationTimestamp: expected a time, got something else`);
  return { token: token || undefined, pair: cert && key ? { cert, key } : undefined, expiresAt };
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
