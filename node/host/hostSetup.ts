/** Applies the configured changes to the host and to the agent's process that the pods and other components rely on. */
import type { Logger } from 'pino';
import type { Clock } from '../../base/time/clock.ts';
import { setKernelParameters } from '../../host/kernelParameters.ts';
import { setOpenFileLimit } from '../../host/openFileLimit.ts';
import { UtilChains } from '../../host/utilChains.ts';
import type { HostSetup } from '../config/nodeConfig.ts';

interface HostSetupDependencies {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
  /** Sets the limit of open files. Defaults to that of this process. */
  readonly setFileLimit?: typeof setOpenFileLimit;
  /** Directory of the kernel parameters. Defaults to the host's. */
  readonly procSys?: string;
  /** Runs a variant of iptables. Defaults to the host's. */
  readonly runIptables?: (program: string, args: readonly string[]) => Promise<unknown>;
}

/**
 * Sets the limit of open files, the kernel parameters and the iptables chains. A change that the host refuses is only
 * logged, because pods run without it. Returns a function that stops maintaining the chains and leaves them in place.
 */
export async function setUpHost(
  { kernelParameters, createsUtilChains, maxOpenFiles }: HostSetup,
  { logger, clock, setFileLimit = setOpenFileLimit, procSys, runIptables }: HostSetupDependencies,
): Promise<() => void> {
  const limitProblem = await setFileLimit(maxOpenFiles);
  if (limitProblem !== undefined) logger.info(limitProblem);
  if (kernelParameters === 'set') {
    const { changes, problems } = await setKernelParameters(procSys);
    for (const change of changes) logger.info(change);
    for (const problem of problems) logger.warn(problem);
  }
  if (!createsUtilChains) return () => {};
  const chains = new UtilChains({
    clock,
    onInfo: (message) => logger.info(message),
    ...(runIptables ? { run: runIptables } : {}),
  });
  await chains.start();
  return chains.repeat();
}
