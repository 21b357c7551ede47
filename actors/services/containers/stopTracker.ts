/**
 * Tracks which containers and sandboxes are being stopped, because events about their exits are ignored: the response
 * of the stop call reports the outcome.
 */
export function createStopTracker() {
  const stopping = new Set<string>();
  const tracking =
    <Input, Options, Output>(
      idsOf: (input: Input) => readonly string[],
      service: (input: Input, options: Options) => Promise<Output>,
    ) =>
    async (input: Input, options: Options): Promise<Output> => {
      const ids = idsOf(input);
      for (const id of ids) stopping.add(id);
      try {
        return await service(input, options);
      } finally {
        for (const id of ids) stopping.delete(id);
      }
    };
  return { tracking, isBeingStopped: (id: string): boolean => stopping.has(id) };
}
