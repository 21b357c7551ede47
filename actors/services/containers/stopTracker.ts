/**
 * Tracks which containers and sandboxes are being stopped. Events about their exits are ignored, because the response
 * of the stop call reports the outcome.
 */
export function createStopTracker() {
  const stoppingIds = new Set<string>();
  const trackStops =
    <Input, Options, Output>(
      getIds: (input: Input) => readonly string[],
      service: (input: Input, options: Options) => Promise<Output>,
    ) =>
    async (input: Input, options: Options): Promise<Output> => {
      const ids = getIds(input);
      for (const id of ids) stoppingIds.add(id);
      try {
        return await service(input, options);
      } finally {
        for (const id of ids) stoppingIds.delete(id);
      }
    };
  return { tracking: trackStops, isBeingStopped: (id: string): boolean => stoppingIds.has(id) };
}
