import { ApiError } from '@obsiac/api';
import { describe, expect, it } from 'vitest';
import { Brake } from './brake.ts';

const unreachable = new ApiError('unreachable', 'Nothing answers.', { retryable: true });

describe('the brake', () => {
  it('is pulled by a service that answers nobody any more', () => {
    const brake = new Brake();
    brake.succeeded(10);
    brake.failed(unreachable, 'write', 20);
    expect(brake.stop).toMatchObject({ kind: 'service' });
    expect(brake.blocks('delete')).toContain('Nothing answers.');
  });

  it('is not pulled when others were answered meanwhile', () => {
    const brake = new Brake();
    brake.succeeded(30);
    brake.failed(unreachable, 'write', 20);
    expect(brake.stop).toBeNull();
  });

  it('is not pulled by what is wrong with one object', () => {
    const brake = new Brake();
    brake.failed(new ApiError('bad_request', 'No.', { status: 400 }), 'write', 0);
    brake.failed(new ApiError('conflict', 'No.', { status: 409 }), 'write', 0);
    brake.failed(new ApiError('service_error', 'A fault.', { status: 500 }), 'write', 0);
    expect(brake.blocks('write')).toBeUndefined();
  });

  it('blocks only the scope whose token is refused', () => {
    const brake = new Brake();
    brake.failed(new ApiError('credentials_refused', 'Not this one.'), 'delete', 0);
    expect(brake.blocks('delete')).toBe('Not this one.');
    expect(brake.blocks('write')).toBeUndefined();
    expect(brake.stop).toBeNull();
  });

  it('keeps the first reason', () => {
    const brake = new Brake();
    brake.pull({ kind: 'cancelled', reason: 'Cancelled.' });
    brake.failed(new ApiError('revision_moved', 'Moved.', { status: 412 }), 'write', 0);
    expect(brake.stop).toEqual({ kind: 'cancelled', reason: 'Cancelled.' });
  });
});
