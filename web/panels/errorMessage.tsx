interface ErrorMessageProps {
  readonly message: string;
  readonly cause: string;
  readonly onRetry: () => void;
}

/** An error message that replaces the content of a panel. */
export const ErrorMessage = ({ message, cause, onRetry }: ErrorMessageProps) => (
  <div class="sec trouble" role="alert">
    <p>
      <b class="c-failed">{message}</b>: {cause}
    </p>
    <button type="button" class="btn" onClick={onRetry}>
      Try again
    </button>
  </div>
);
