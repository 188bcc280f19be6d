"""Linear algebra on one thread while a model is fitted."""

from __future__ import annotations

from threadpoolctl import ThreadpoolController

from candide.kernels.linear_algebra import on_one_thread


def threads():
    return {library["num_threads"] for library in ThreadpoolController().select(user_api="blas").info()}


def test_linear_algebra_has_its_threads_again_once_the_last_user_is_done():
    """Users may end in another order than they began in."""
    with ThreadpoolController().limit(limits=2, user_api="blas"):
        first, second = on_one_thread(), on_one_thread()
        first.__enter__()
        second.__enter__()
        assert threads() == {1}
        first.__exit__(None, None, None)
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}
