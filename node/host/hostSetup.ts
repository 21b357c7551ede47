/** Applies the configured host and process settings on which the pods and other components rely. */
import type { Logger } from 'pino';
import type { Clock } from '../../base/time/clock.ts';
import { setKernelParameters } from '../../host/kernelParameters.ts';
import { setOpenFileLimit } from '../../host/openFileLimit.ts';
import { UtilChains } from '../../host/utilChains.ts';
import type { HostSetup } from '../config/nodeConfig.ts';

interface HostSetupDependencies {
  readonly logger: Pick<Logger, 'info' | 'warn'>;
  readonly clock: Clock;
  /** Sets the open file limit. By default, sets the limit of this process. */
  readonly setFileLimit?: typeof setOpenFileLimit;
  /** Directory of the kernel parameters. Defaults to the host's. */
  readonly procSys?: string;
  /** Runs a variant of iptables. Defaults to the host's. */
  readonly runIptables?: (program: string, args: readonly string[]) => Promise<unknown>;
}

/**
 * Sets the open file limit, the kernel parameters and the iptables chains. If the host refuses a change, the refusal is
 * logged and startup continues, because pods can run without the change. Returns a function that stops maintaining the
 * chains and leaves them in place.
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
