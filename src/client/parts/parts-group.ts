// Whether an API server has the resources of parts: Fairlead's own has, others do not. Discovery says so without a right of its own.
import { partsGroup, partsVersion } from '../../kinds/part/names.ts';
import { isApiError } from '../../meta/api-error.ts';
import { type ApiCaller, callApi } from '../api-call.ts';

export async function isPartsGroupServed(caller: ApiCaller, signal: AbortSignal): Promise<boolean> {
  try {
    await callApi(caller, { method: 'GET', path: `/apis/${partsGroup}/${partsVersion}`, signal });
    return true;
  } catch (error) {
    if (isApiError(error) && error.status.code === 404) return false;
    throw error;
  }
}
