// Tries a read-change-write again when somebody else wrote in between.
import { isConflict } from '../meta/api-error.ts';

/** Enough for writers that meet now and then; more would hide a fight between two of them. */
const defaultAttempts = 5;

export async function retryOnConflict<T>(
  action: () => Promise<T>,
  attempts = defaultAttempts,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await action();
    } catch (error) {
      if (!isConflict(error) || attempt >= attempts) throw error;
    }
  }
}
