/**
 * Maintains the iptables chains that the kubelet creates for other components (`initNetworkUtil` in
 * `pkg/kubelet/kubelet_network_linux.go`): a chain that indicates which variant of iptables the host uses, and a rule
 * that drops packets from other hosts to the loopback addresses.
 */
import { messageOf } from '../base/failure.ts';
import { type Clock, startInterval } from '../base/time/clock.ts';
import { findProgram, ProgramFailure, runProgram } from './program.ts';

const PROGRAMS = ['iptables', 'ip6tables'] as const;
type IptablesProgram = (typeof PROGRAMS)[number];

const HINT_CHAIN = 'KUBE-IPTABLES-HINT';
const FIREWALL_CHAIN = 'KUBE-FIREWALL';
const CANARY_CHAIN = 'KUBE-KUBELET-CANARY';
/** Tables that contain a canary chain. If the canary is missing, other software has flushed the table. */
const CANARY_TABLES = ['mangle', 'nat', 'filter'] as const;

/** Arguments that make iptables wait for the xtables lock for at most 5 s, polling every 100 ms. */
const LOCK_ARGUMENTS = ['-w', '5', '-W', '100000'];
const TIMEOUT_MS = 30_000;
const CHECK_INTERVAL_MS = 60_000;

/** Exit code of iptables for a chain that exists already, or for a rule or chain that does not exist. */
const CONFLICT_EXIT_CODE = 1;

const DROP_RULE = [
  '-m',
  'comment',
  '--comment',
  'block incoming localnet connections',
  '--dst',
  '127.0.0.0/8',
  '!',
  '--src',
  '127.0.0.0/8',
  '-m',
  'conntrack',
  '!',
  '--ctstate',
  'RELATED,ESTABLISHED,DNAT',
  '-j',
  'DROP',
];

interface UtilChainsDependencies {
  readonly clock: Clock;
  readonly onInfo: (message: string) => void;
  /** Runs a variant of iptables. Defaults to the host's. */
  readonly run?: (program: string, args: readonly string[]) => Promise<unknown>;
}

export class UtilChains {
  readonly #clock: Clock;
  readonly #onInfo: (message: string) => void;
  readonly #run: (program: string, args: readonly string[]) => Promise<unknown>;
  #programs: readonly IptablesProgram[] = [];
  /** Problems that have been reported and still exist. */
  #problems: ReadonlySet<string> = new Set();

  constructor({ clock, onInfo, run = runIptables }: UtilChainsDependencies) {
    this.#clock = clock;
    this.#onInfo = onInfo;
    this.#run = run;
  }

  /** Creates the chains for IPv4 and IPv6 unless the host does not support iptables. */
  async start(): Promise<void> {
    const supported = await Promise.all(PROGRAMS.map((program) => this.#isSupported(program)));
    this.#programs = PROGRAMS.filter((_, index) => supported[index]);
    if (this.#programs.length === 0)
      this.#onInfo(`this host does not support iptables, so the chain ${HINT_CHAIN} is not created`);
    await this.#ensureAll();
  }

  /**
   * Checks once a minute whether the chains have been flushed, and restores them. Stops when the returned function is
   * called.
   */
  repeat(): () => void {
    if (this.#programs.length === 0) return () => {};
    // Prevents checks from overlapping, because a check may wait for the xtables lock.
    let isChecking = false;
    return startInterval(this.#clock, CHECK_INTERVAL_MS, () => {
      if (isChecking) return;
      isChecking = true;
      void this.check().finally(() => {
        isChecking = false;
      });
    });
  }

  /** Restores the chains of an iptables program if one of its canaries is missing. */
  async check(): Promise<void> {
    await this.#ensureAll(async (program) => {
      for (const table of CANARY_TABLES) if (!(await this.#hasChain(program, table, CANARY_CHAIN))) return true;
      return false;
    });
  }

  /**
   * Creates the missing chains and rules for each iptables program that `mustHandle` selects. Reports each problem
   * once.
   */
  async #ensureAll(mustHandle: (program: IptablesProgram) => Promise<boolean> = async () => true): Promise<void> {
    const problems = await Promise.all(
      this.#programs.map(async (program) => {
        try {
          if (await mustHandle(program)) await this.#ensure(program);
          return undefined;
        } catch (error) {
          return `some rules of ${program} are missing: ${messageOf(error)}`;
        }
      }),
    );
    const currentProblems = problems.filter((problem) => problem !== undefined);
    for (const problem of currentProblems) if (!this.#problems.has(problem)) this.#onInfo(problem);
    this.#problems = new Set(currentProblems);
  }

  async #ensure(program: IptablesProgram): Promise<void> {
    await this.#ensureChain(program, 'mangle', HINT_CHAIN);
    if (program === 'iptables') {
      await this.#ensureChain(program, 'filter', FIREWALL_CHAIN);
      await this.#ensureRule(['-I', 'OUTPUT'], ['-j', FIREWALL_CHAIN]);
      await this.#ensureRule(['-I', 'INPUT'], ['-j', FIREWALL_CHAIN]);
      await this.#ensureRule(['-A', FIREWALL_CHAIN], DROP_RULE);
    }
    for (const table of CANARY_TABLES) await this.#ensureChain(program, table, CANARY_CHAIN);
  }

  async #isSupported(program: IptablesProgram): Promise<boolean> {
    return this.#hasChain(program, 'nat', 'POSTROUTING').catch(() => false);
  }

  #hasChain(program: IptablesProgram, table: string, chain: string): Promise<boolean> {
    return this.#succeeds(program, ['-S', chain, '-t', table]);
  }

  async #ensureChain(program: IptablesProgram, table: string, chain: string): Promise<void> {
    await this.#succeeds(program, ['-N', chain, '-t', table]);
  }

  /** Adds a rule to the filter table of IPv4 unless the rule exists. */
  async #ensureRule([operation, chain]: readonly [string, string], rule: readonly string[]): Promise<void> {
    if (await this.#succeeds('iptables', ['-C', chain, '-t', 'filter', ...rule])) return;
    await this.#run('iptables', [...LOCK_ARGUMENTS, operation, chain, '-t', 'filter', ...rule]);
  }

  /** Whether a command succeeds. Throws if iptables could not run it at all. */
  async #succeeds(program: IptablesProgram, args: readonly string[]): Promise<boolean> {
    try {
      await this.#run(program, [...LOCK_ARGUMENTS, ...args]);
      return true;
    } catch (error) {
      if (error instanceof ProgramFailure && error.exitCode === CONFLICT_EXIT_CODE) return false;
      throw error;
    }
  }
}

async function runIptables(program: string, args: readonly string[]): Promise<unknown> {
  const path = await findProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  const { signal } = new AbortController();
  return runProgram(path, args, { signal, timeoutMs: TIMEOUT_MS });
}
