// Retries a read-modify-write when another client wrote in between.
import { isConflict } from '../meta/api-error.ts';

/** Enough for occasional conflicts; more would hide two writers that keep reverting each other. */
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
